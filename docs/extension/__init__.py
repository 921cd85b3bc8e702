"""Parts of the documentation site that Sphinx does not bring."""
