r"""Spatial evidential c-means: items that lie beside each other belong together.

With weights :math:`s_{ij}` of the neighborhood of item i, which sum to one over j, ECM's criterion
is minimized for the means :math:`y_i = \sum_j s_{ij} x_j` of neighborhoods instead of single items:

.. math:: J(M, V) = \sum_i \sum_{A \neq \emptyset} |A|^\alpha \, m_{iA}^\beta \,
          D_{iA} + \sum_i \delta^2 \, m_{i\emptyset}^\beta,
          \qquad D_{iA} = \lVert y_i - \bar v_A \rVert^2.

The mean of squared distances over the neighborhood instead of the squared distance of the mean,

.. math:: D_{iA} = \sum_j s_{ij} \lVert x_j - \bar v_A \rVert^2
          = \lVert y_i - \bar v_A \rVert^2 + b_i,

adds the variance :math:`b_i` of the neighborhood to all distances of an item. Masses are then
flatter where neighbors differ, and in much noise clusters fall together; it is there on request.

References
----------
B. Lelandais, S. Ruan, T. Denoeux, P. Vera, I. Gardin, Fusion of multi-tracer PET images for dose
painting, Medical Image Analysis 18 (2014) 1247-1259.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from plausible.checks import check_option
from plausible.cluster.ecm import ECM, Items
from plausible.cluster.focal_sets import FocalSets
from plausible.cluster.neighborhoods import check_neighborhoods, is_shape
from plausible.engine import Callback
from plausible.errors import InputError


def smoothed(items: Items, weights: csr_array) -> Items:
    """Means of neighborhoods, and their variances, summed over features."""
    middle = items.X.mean(axis=0)
    centered = items.X - middle
    means = weights @ centered
    squares = weights @ np.einsum("ij,ij->i", centered, centered)
    variances = np.maximum(squares - np.einsum("ij,ij->i", means, means), 0.0)
    return Items(means + middle, variances)


class SECM(ECM):
    """Spatial evidential c-means: `ECM` of items with neighbors, such as the pixels of an image.

    Parameters
    ----------
    n_clusters : int
    weights : tuple of int, sparse or dense array (n, n), or None
        The shape of an image (2-D) or volume (3-D), whose pixels have the neighbors of
        `image_weights`; or the weight of each item beside each other one, scaled to sum to one over
        the neighbors of an item. None: items have no neighbors, as in `ECM`.
    average : {"features", "distances"}
        What is averaged over neighbors: features, or squared distances, in which items whose
        neighbors differ are more doubtful.
    cardinality_weight, fuzzifier, outlier_distance, focal_sets, n_init, init, tol, max_iter,
    random_state, verbose, callback : as in `ECM`

    Attributes
    ----------
    cluster_centers_, partition_, masses_, focal_sets_, labels_, objective_, history_, n_iter_,
    converged_, outlier_distance_ : as in `ECM`

    Notes
    -----
    `fit` takes features (n, d) of the pixels in the order of ``image.ravel()``, or, where `weights`
    is the shape of the image, the image itself, with or without a last axis of channels. New items
    must be as many, such as those of another image of the same shape; for single points use the
    centers in `ECM`.

    Examples
    --------
    >>> image = np.array([[0.0, 0, 0, 0, 9, 9], [0, 8, 0, 0, 9, 9], [0, 0, 0, 0, 9, 9]])
    >>> model = SECM(2, weights=image.shape, random_state=0).fit(image)
    >>> model.partition_.probability.argmax(axis=1).reshape(image.shape)
    array([[0, 0, 0, 0, 1, 1],
           [0, 0, 0, 0, 1, 1],
           [0, 0, 0, 0, 1, 1]])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        weights: Any = None,
        average: str = "features",
        cardinality_weight: float = 1.0,
        fuzzifier: float = 2.0,
        outlier_distance: float | str = "auto",
        focal_sets: FocalSets = "all",
        n_init: int = 10,
        init: str | ArrayLike = "k-means++",
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        super().__init__(
            n_clusters=n_clusters,
            cardinality_weight=cardinality_weight,
            fuzzifier=fuzzifier,
            outlier_distance=outlier_distance,
            focal_sets=focal_sets,
            n_init=n_init,
            init=init,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
            verbose=verbose,
            callback=callback,
        )
        self.weights = weights
        self.average = average

    def _fit_rows(self, rows: Any) -> Self:
        raise InputError(
            "SECM should be given items in memory",
            f"{type(rows).__name__} came, and neighbors of items must be in memory",
            "give an array, or use ECM",
            parameter="X",
        )

    def _read(self, X: ArrayLike, reset: bool) -> Items:
        check_option(self.average, ("features", "distances"), "average")
        shape = self.weights if is_shape(self.weights) else None
        given = np.shape(X) if shape is not None else ()
        if shape is not None and given[: len(shape)] == shape and len(given) <= len(shape) + 1:
            channels = given[-1] if len(given) > len(shape) else 1
            X = np.asarray(X).reshape(-1, channels)
        items = super()._read(X, reset)
        if self.weights is None:
            return items
        averaged = smoothed(items, check_neighborhoods(self.weights, len(items.X)))
        return averaged if self.average == "distances" else averaged._replace(offset=None)
