"""Obvious versions of everything fast: loops, dense quadrature, exhaustive search.

Nothing here may come from `boostr._kernels`. Leaf problems are named by words: "single"
(the best term alone), "diagonal" (all terms, no interaction) and "full".
"""

from itertools import combinations, pairwise, product

import numpy as np
from scipy.integrate import quad_vec
from scipy.interpolate import BSpline
from scipy.optimize import isotonic_regression

# --- The mean cumulative function, one individual and time at a time
# ------------------------


def is_at_risk(windows, time):
    return any(start < time <= stop for start, stop in windows)


def mean_cumulative_function(windows, events, costs, weights):
    """Give times, at risk, estimate and robust variance; every argument is a list."""
    times = sorted({time for own in events for time in own})
    residuals = np.zeros(len(windows))
    rows, estimate = [], 0.0
    for time in times:
        at_risk = [is_at_risk(own, time) for own in windows]
        cost = [
            sum(c for t, c in zip(own, own_costs, strict=True) if t == time)
            for own, own_costs in zip(events, costs, strict=True)
        ]
        n_at_risk = np.dot(weights, at_risk)
        mean_cost = np.dot(weights, cost) / n_at_risk
        estimate += mean_cost
        for i, own_cost in enumerate(cost):
            residuals[i] += at_risk[i] * (own_cost - mean_cost) / n_at_risk
        rows.append((time, n_at_risk, estimate, np.dot(weights, residuals**2)))
    return tuple(np.array(rows).reshape(-1, 4).T)


def mean_with_terminal_events(windows, events, died, weights):
    """Give times and the estimate of Ghosh and Lin; ``died`` is at the last stop or not."""
    ends = [own[-1][1] for own in windows]
    estimate, survival, rows = 0.0, 1.0, []
    for time in sorted({time for own in events for time in own} | set(ends)):
        at_risk = np.dot(weights, [is_at_risk(own, time) for own in windows])
        counts = [sum(t == time for t in own) for own in events]
        if any(counts):
            estimate += survival * np.dot(weights, counts) / at_risk
            rows.append((time, estimate))
        dies = [bool(d and end == time) for d, end in zip(died, ends, strict=True)]
        survival *= 1.0 - np.dot(weights, dies) / at_risk
    return tuple(np.array(rows).reshape(-1, 2).T)


# --- Statistics of one individual, by quadrature
# --------------------------------------------


def polynomial_pieces(edges, pieces):
    """Return the function, from the left, whose pieces are polynomials of s - edge."""

    def function(time):
        piece = np.searchsorted(edges, time, side="left") - 1
        if piece < 0:
            return np.zeros(pieces.shape[1])
        distance = time - edges[piece]
        return np.array([np.polyval(term[::-1], distance) for term in pieces[piece]])

    return function


def accumulated(function, windows, time):
    """Return A: what the function has gained up to a time while it was observed."""
    return sum(
        function(np.clip(time, start, stop)) - function(start) for start, stop in windows
    )


def counted(times, costs, time):
    """Return N: what has been counted before a time."""
    return sum(cost for event, cost in zip(times, costs, strict=True) if event < time)


def integrate_observed(integrand, windows, breaks):
    """Integrate over the windows, piece by piece between the breaks."""
    total = 0.0
    for start, stop in windows:
        inside = sorted({b for b in breaks if start < b < stop})
        points = [start, *inside, stop]
        for begin, end in pairwise(points):
            # The rule reads the inside only: the integrand may jump at the breaks.
            total += quad_vec(
                integrand, begin, end, epsabs=1e-10, epsrel=1e-10, quadrature="gk15"
            )[0]
    return total


def intensity_statistics(rates, windows, times, costs, breaks=()):
    """Return b and H of least squares on the rate."""
    linear = sum(c * rates(t) for t, c in zip(times, costs, strict=True))
    quadratic = integrate_observed(
        lambda s: np.outer(rates(s), rates(s)), windows, [*breaks, *times]
    )
    return linear, quadratic


def cumulative_statistics(function, windows, times, costs, breaks=()):
    """Return b and H of the squared distance of N and A."""

    def integrand(time):
        curve = accumulated(function, windows, time)
        return np.vstack([counted(times, costs, time) * curve, np.outer(curve, curve)])

    both = integrate_observed(integrand, windows, [*breaks, *times])
    return both[0], both[1:]


# --- Matrices in pieces
# -----------------------------------------------------------------------


def lower_triangle(matrix):
    """Return the lower triangle, row by row."""
    return np.array([matrix[i][j] for i in range(len(matrix)) for j in range(i + 1)])


def full_matrix(triangle, n_terms):
    """Return the symmetric matrix with a given lower triangle."""
    matrix = np.zeros((n_terms, n_terms))
    values = iter(triangle)
    for row in range(n_terms):
        for column in range(row + 1):
            matrix[row, column] = matrix[column, row] = next(values)
    return matrix


# --- Leaves
# -----------------------------------------------------------------------------------


def objective(beta, gradient, hessian):
    """Return g'beta + 1/2 beta'H beta."""
    return gradient @ beta + 0.5 * beta @ hessian @ beta


def solve_leaf(gradient, hessian, penalty, kind):
    """Return the best coefficients of a leaf and how far they lower the objective."""
    matrix = hessian + penalty
    n_terms = len(gradient)
    if kind == "full":
        beta = np.linalg.lstsq(matrix, -gradient, rcond=1e-11)[0]
        return beta, -objective(beta, gradient, matrix)
    diagonal = np.diag(np.diag(matrix))
    alone = np.zeros((n_terms, n_terms))
    for term in range(n_terms):
        if diagonal[term, term] > 0:
            alone[term, term] = -gradient[term] / diagonal[term, term]
    if kind == "diagonal":
        beta = alone.sum(axis=0)
    else:
        beta = min(alone, key=lambda one: objective(one, gradient, diagonal))
    return beta, -objective(beta, gradient, diagonal)


# --- Histograms, partitions, splits
# -----------------------------------------------------------


def histograms(x_binned, rows, members, features, n_bins):
    """Sum rows per feature and bin."""
    out = np.zeros((len(features), n_bins, rows.shape[1]))
    for slot, feature in enumerate(features):
        for member in members:
            out[slot, x_binned[member, feature]] += rows[member]
    return out


def partition(x_binned, feature, goes_left, members):
    """Return the members on the left and those on the right, in the order given."""
    left = [m for m in members if goes_left[x_binned[m, feature]]]
    right = [m for m in members if not goes_left[x_binned[m, feature]]]
    return left, right


def split_gain(is_left, gradients, hessians, penalty, kind):
    """Return the drop of the objective when a node is cut in two."""
    return (
        solve_leaf(gradients[is_left].sum(0), hessians[is_left].sum(0), penalty, kind)[1]
        + solve_leaf(gradients[~is_left].sum(0), hessians[~is_left].sum(0), penalty, kind)[
            1
        ]
        - solve_leaf(gradients.sum(0), hessians.sum(0), penalty, kind)[1]
    )


def left_sets(n_values, is_categorical):
    """Yield every set of bins that a split may send left."""
    if not is_categorical:
        yield from (range(last + 1) for last in range(n_values))
        return
    for size in range(1, n_values + 1):
        yield from combinations(range(n_values), size)


def best_gain(bins, n_values, missing_bin, is_categorical, individuals, leaf, min_count=1):
    """Try every split of one feature and both sides for missing; return the best gain.

    ``individuals`` is (gradients, hessians), ``leaf`` is (penalty, kind). Minus infinity
    where no split leaves enough on both sides.
    """
    best = -np.inf
    for left in left_sets(n_values, is_categorical):
        for missing_left in (False, True):
            is_left = np.isin(bins, list(left)) | ((bins == missing_bin) & missing_left)
            if min(is_left.sum(), (~is_left).sum()) >= min_count:
                best = max(best, split_gain(is_left, *individuals, *leaf))
    return best


# --- Trees
# ------------------------------------------------------------------------------------


def find_leaf(nodes, bins, missing_bin, root=0):
    """Walk one row of bins down a tree."""
    node = root
    while nodes.feature[node] >= 0:
        value = int(bins[nodes.feature[node]])
        chosen = nodes.category_set[node]
        if value == missing_bin:
            is_left = nodes.missing_left[node]
        elif chosen >= 0:
            words = [int(word) for word in nodes.categories[chosen]]
            bits = sum(word << (32 * place) for place, word in enumerate(words))
            is_left = bits >> value & 1
        else:
            is_left = value <= nodes.bin_threshold[node]
        node = root + nodes.left_child[node] + (0 if is_left else 1)
    return node


# --- Bins and monotone sequences
# --------------------------------------------------------------


def bin_column(values, thresholds, missing_bin):
    """Return the number of thresholds below each value."""
    bins = np.searchsorted(thresholds, values, side="left")
    return np.where(np.isnan(values), missing_bin, bins)


def project_monotone(curve, weights):
    return np.maximum(isotonic_regression(curve, weights=weights).x, 0.0)


# --- Paths of sensors: lists of samples (time, value), each acting after its time
# -------------


def sensor_value(samples, time, before="unknown", max_gap=np.inf):
    """Return the last value known before a time; the later row wins at the same time."""
    known = [(t, v) for t, v in samples if not np.isnan(v)]
    earlier = [(t, v) for t, v in known if t < time]
    if not earlier:
        return (
            min(known, key=lambda one: one[0])[1] if known and before == "first" else np.nan
        )
    last = max(t for t, _ in earlier)
    return [v for t, v in earlier if t == last][-1] if time <= last + max_gap else np.nan


def linear_value(samples, time, max_gap=np.inf):
    """Return a value on the line between the samples on both sides of a time."""
    known = {t: v for t, v in sorted(samples, key=lambda one: one[0]) if not np.isnan(v)}
    earlier, later = [t for t in known if t < time], [t for t in known if t >= time]
    if not (earlier and later) or later[0] - earlier[-1] > max_gap:
        return sensor_value(samples, time, max_gap=max_gap)
    left, right = earlier[-1], later[0]
    share = (time - left) / (right - left)
    return known[left] + share * (known[right] - known[left])


def path_pieces(begin, values):
    """List the pieces (begin, end, value) of a path."""
    ends = [*begin, np.inf][1:]
    return list(zip(begin, ends, values, strict=True))


def held_value(begin, values, time):
    """Return what a path holds just after a time."""
    inside = [v for a, b, v in path_pieces(begin, values) if a <= time < b]
    return inside[0] if inside else np.nan


def mean_of_past(begin, values, window, time):
    """Return the mean of the known values in the window that ends at a time."""
    area = length = 0.0
    for a, b, value in path_pieces(begin, values):
        overlap = min(b, time) - max(a, time - window)
        if overlap > 0 and not np.isnan(value):
            area += value * overlap
            length += overlap
    return area / length if length > 0 else held_value(begin, values, time)


def faded_past(begin, values, half_life, time):
    """Return the integral of the past, halved for every half-life since."""
    total = 0.0
    for a, b, value in path_pieces(begin, values):
        end = min(b, time)
        if a < end and not np.isnan(value):
            weights = 2.0 ** (-(time - np.array([a, end])) / half_life)
            total += value * half_life / np.log(2) * (weights[1] - weights[0])
    return total


def max_of_past(begin, values, window, time):
    """Return the largest known value in the window that ends just after a time."""
    known = [
        value
        for a, b, value in path_pieces(begin, values)
        if a <= time and b > time - window and not np.isnan(value)
    ]
    return max(known, default=np.nan)


def events_of_past(events, window, time):
    """Count the events in the window that ends just after a time."""
    return sum(event <= time < event + window for event in events)


# --- Leaves with groups of terms
# --------------------------------------------------------------


def shrink_groups(beta, starts, amounts):
    """Shorten every group by an amount, down to zero; leading axes are many problems."""
    out = beta.copy()
    for group, (begin, end) in enumerate(pairwise(starts)):
        length = np.linalg.norm(beta[..., begin:end], axis=-1)
        kept = np.maximum(length - amounts[..., group], 0.0)
        share = np.divide(kept, length, out=np.zeros_like(kept), where=length > 0.0)
        out[..., begin:end] *= share[..., None]
    return out


def group_drop(beta, gradient, matrix, starts, prices):
    """Return how far coefficients lower g'beta + 1/2 beta'M beta + prices . lengths."""
    curved = np.einsum("...tu,...u->...t", matrix, beta)
    drop = -np.sum(beta * (gradient + 0.5 * curved), axis=-1)
    for group, (begin, end) in enumerate(pairwise(starts)):
        drop = drop - prices[..., group] * np.linalg.norm(beta[..., begin:end], axis=-1)
    return drop


def solve_groups(gradient, matrix, starts, prices):
    """Return the best coefficients and their drop, by proximal gradient steps.

    ``M`` is positive definite; leading axes are many problems. Nesterov's constant
    momentum makes some hundred steps of some ten thousand.
    """
    curvature = np.linalg.eigvalsh(matrix)
    step = 1.0 / curvature[..., -1:]
    root = np.sqrt(step * curvature[..., :1])
    momentum = (1.0 - root) / (1.0 + root)
    beta = ahead = np.zeros_like(gradient)
    for _ in range(100_000):
        slope = gradient + np.einsum("...tu,...u->...t", matrix, ahead)
        new = shrink_groups(ahead - step * slope, starts, step * prices)
        change = np.abs(new - beta).max()
        beta, ahead = new, new + momentum * (new - beta)
        if change <= 1e-13 * np.abs(beta).max():
            break
    return beta, group_drop(beta, gradient, matrix, starts, prices)


def leaf_prices(hessian, starts, prices, grows):
    """Return a leaf's prices; some grow with the root of the first group's trace of H."""
    observed = np.trace(hessian[..., : starts[1], : starts[1]], axis1=-2, axis2=-1)
    return prices * (np.sqrt(observed)[..., None] if grows else np.ones(1))


def grouped_drops(sides, gradients, hessians, penalty, groups):
    """Return the drop of every set of individuals, (k, n), as a leaf.

    ``groups`` is (starts, prices, whether they grow).
    """
    starts, prices, grows = groups
    gradient = sides @ gradients
    hessian = np.einsum("ki,itu->ktu", sides.astype(float), hessians)
    prices = leaf_prices(hessian, starts, np.asarray(prices), grows)
    return solve_groups(gradient, hessian + penalty, starts, prices)[1]


def grouped_gains(is_left, gradients, hessians, penalty, groups):
    """Return the drop of the objective for every way to cut a node in two, (k, n)."""
    everybody = np.ones((1, len(gradients)), dtype=bool)
    sides = np.vstack([is_left, ~is_left, everybody])
    drops = grouped_drops(sides, gradients, hessians, penalty, groups)
    return drops[: len(is_left)] + drops[len(is_left) : -1] - drops[-1]


def ways_to_split(bins, left, missing_bin, min_count=1):
    """List who is on the left for all sets of bins, and both sides for missing."""
    ways = [
        np.isin(bins, list(own)) | ((bins == missing_bin) & missing_left)
        for own in left
        for missing_left in (False, True)
    ]
    n = len(bins)
    kept = [way for way in ways if min_count <= way.sum() <= n - min_count]
    return np.array(kept, dtype=bool).reshape(-1, n)


def shrink_categories(bins, n_values, gradients, hessians, pseudo_count):
    """Return gradients with which the categories of individuals are judged.

    Each category's gradient per curvature is mixed with the mean of all, as if it had more
    individuals like the mean; then all are shifted alike, so that their sum is as before.
    """
    owners = bins[:, None] == np.arange(n_values)
    owners = owners[:, owners.any(axis=0)]
    counts = owners.sum(axis=0)
    if len(counts) == 0:
        return gradients
    pseudo_count *= max(len(counts) - 2, 0) / len(counts)
    shrunken = np.array(gradients)
    for term in range(gradients.shape[1]):
        gradient = owners.T @ gradients[:, term]
        curvature = owners.T @ hessians[:, term, term]
        if curvature.sum() == 0.0:
            continue
        share = curvature / curvature.sum()
        mixed = (counts * gradient + pseudo_count * gradient.sum() * share) / (
            counts + pseudo_count
        )
        mixed += (gradient.sum() - mixed.sum()) * share
        shrunken[:, term] += owners @ ((mixed - gradient) / counts)
    return shrunken


def category_prefixes(bins, n_values, gradients, hessians):
    """Yield the categories up to each one, in the order of each term's own best value."""
    for term in range(gradients.shape[1]):
        value = {
            category: -gradients[bins == category, term].sum()
            / hessians[bins == category, term, term].sum()
            for category in range(n_values)
            if np.any(bins == category)
        }
        order = sorted(value, key=value.get)
        yield from (order[: last + 1] for last in range(len(order)))


# --- Functions of sensors. A sensor's atoms are (knots, order, their values where unknown),
# with order 0 for categories; a path is where its pieces begin, and a list of values each
# --------------------------------------------------------------------------------------


def atoms_at(value, knots, order, unknown):
    """Return all atoms of one sensor at one value."""
    n_atoms = len(unknown)
    if np.isnan(value) or (order == 0 and not 0 <= value < n_atoms):
        return np.asarray(unknown, dtype=float)
    if order == 0:
        return np.eye(n_atoms)[int(value)]
    held = np.clip(value, knots[0], knots[-1])
    return BSpline(knots, np.eye(n_atoms), order - 1)(held)


def path_atoms(begins, values, sensors, time):
    """Return all sensors' atoms at a time: of the last piece that began before it."""
    earlier = [own for begin, own in zip(begins, values, strict=True) if begin < time]
    shown = earlier[-1] if earlier else [np.nan] * len(sensors)
    atoms = [atoms_at(z, *own) for z, own in zip(shown, sensors, strict=True)]
    return np.concatenate([np.empty(0), *atoms])


def accumulated_atoms(begins, values, sensors, time):
    """Return the integral of all atoms from zero to a time."""
    cuts = sorted({0.0, time, *(begin for begin in begins if 0.0 < begin < time)})
    total = np.zeros_like(path_atoms(begins, values, sensors, time))
    for start, stop in pairwise(cuts):
        total += (stop - start) * path_atoms(begins, values, sensors, stop)
    return total


def path_statistics(loss, baseline, path, sensors, history, breaks=()):
    """Return b and H of a baseline's terms and all atoms, by quadrature.

    ``baseline`` is its rates for the intensity loss, its functions for the cumulative one.
    """
    read = path_atoms if loss == "intensity" else accumulated_atoms
    compute = intensity_statistics if loss == "intensity" else cumulative_statistics
    linear, quadratic = compute(
        lambda time: np.concatenate([baseline(time), read(*path, sensors, time)]),
        *history,
        breaks=[*breaks, *path[0]],
    )
    return np.zeros(len(quadratic)) + linear, quadratic


def dense_path_statistics(loss, clock, rates, history, n_cells=4_000):
    """Return b and H as sums over short cells of time, in which the clock moves on.

    ``rates`` gives the rates of all terms on the clock, (m, P), at times of the calendar.
    """
    windows, times, costs = history
    level = linear = quadratic = 0.0
    if loss == "intensity":
        linear = np.asarray(costs) @ rates(np.asarray(times)) if times else 0.0
    for start, stop in windows:
        edges = np.linspace(start, stop, n_cells + 1)
        middles, steps = 0.5 * (edges[1:] + edges[:-1]), np.diff(clock(edges))
        slopes = rates(middles)
        if loss == "intensity":
            quadratic = quadratic + np.einsum("k,kt,ku->tu", steps, slopes, slopes)
            continue
        rises = steps[:, None] * slopes
        curves = level + np.cumsum(rises, axis=0) - 0.5 * rises
        counts = np.array([counted(times, costs, time) for time in middles])
        linear = linear + (steps * counts) @ curves
        quadratic = quadratic + np.einsum("k,kt,ku->tu", steps, curves, curves)
        level = level + rises.sum(axis=0)
    return np.zeros(len(quadratic)) + linear, quadratic


def observed_length(begin, end, windows):
    """Return how much of a piece lies in the windows."""
    return sum(max(min(end, stop) - max(begin, start), 0.0) for start, stop in windows)


# --- Curves along paths
# -----------------------------------------------------------------------


def bend_rate(rate, floor):
    """Return a rate, or a positive one in its place where it is below the floor."""
    if floor < 0.0:
        return rate
    if rate >= floor:
        return rate
    return floor * floor / (2.0 * floor - rate) if floor > 0.0 else 0.0


def rise_along_path(rate, breaks, time, floor):
    """Integrate a rate that changes only at the breaks, and is bent below a floor."""
    cuts = sorted({0.0, time, *(cut for cut in breaks if 0.0 < cut < time)})
    total = 0.0
    for start, stop in pairwise(cuts):
        slope = rate(0.5 * (start + stop))
        total += (stop - start) * bend_rate(slope, floor)
    return total


# --- Metrics: every pair of individuals, every moment
# ---------------------------------------


def judge(predicted, i, j, is_ahead):
    """Return whether a pair is concordant and whether it is tied."""
    if predicted[i] == predicted[j]:
        return np.array([0.0, 1.0, 1.0])
    return np.array([(predicted[i] > predicted[j]) == is_ahead, 0.0, 1.0])


def shared_count(history, other, horizon):
    """Sum the costs of events up to the horizon while the other is observed, too."""
    _, times, costs = history
    return sum(
        cost
        for time, cost in zip(times, costs, strict=True)
        if time <= horizon and is_at_risk(other[0], time)
    )


def common_pairs(histories, predicted, weights, horizon=np.inf):
    """Return concordant, tied and comparable pairs over their common follow-up."""
    total = np.zeros(3)
    for i, j in combinations(range(len(histories)), 2):
        own = shared_count(histories[i], histories[j], horizon)
        other = shared_count(histories[j], histories[i], horizon)
        if own != other:
            total += weights[i] * weights[j] * judge(predicted, i, j, own > other)
    return total


def event_pairs(histories, predicted, weights, horizon=np.inf, power=0):
    """Return the same with the owner of every event against all others at risk.

    A comparison is weighted by a power of the share that is observed at that time.
    """
    total = np.zeros(3)
    for i, (_, times, costs) in enumerate(histories):
        for time, cost in zip(times, costs, strict=True):
            at_risk = [is_at_risk(windows, time) for windows, _, _ in histories]
            share = np.dot(weights, at_risk) / np.sum(weights)
            for j, is_there in enumerate(at_risk):
                if time <= horizon and is_there and j != i:
                    weight = cost * weights[i] * weights[j] * share**power
                    total += weight * judge(predicted, i, j, is_ahead=True)
    return total


def squared_gap(history, grid, curve):
    """Integrate the squared distance of observed counts and a broken line."""
    windows, times, costs = history
    return integrate_observed(
        lambda time: (
            (
                counted(times, costs, time)
                - accumulated(lambda t: np.interp(t, grid, curve), windows, time)
            )
            ** 2
        ),
        windows,
        [*grid, *times],
    )


# --- Rivals: a likelihood, a forest, one individual at a time
# -----------------------------------


def power_law_log_likelihood(windows, events, design, coefficients, shape, weights):
    """Return the log-likelihood of exp(x'b) t^shape; windows and events are lists."""
    total = 0.0
    for own, times, row, weight in zip(windows, events, design, weights, strict=True):
        scale = np.exp(np.dot(row, coefficients))
        logs = [np.log(scale * shape * t ** (shape - 1.0)) for t in times]
        expected = sum(scale * (stop**shape - start**shape) for start, stop in own)
        total += weight * (sum(logs) - expected)
    return total


def numerical_hessian(function, point, step=1e-4):
    """Return the matrix of second derivatives by central differences."""
    n = len(point)
    hessian = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            up, across = step * np.eye(n)[i], step * np.eye(n)[j]
            corners = [
                function(point + up + across),
                function(point - up - across),
                function(point + up - across),
                function(point - up + across),
            ]
            hessian[i, j] = np.dot([1, 1, -1, -1], corners) / (4 * step**2)
    return hessian


def walk(tree, bins, missing_bin):
    """Return the leaf of one individual whose features are all numbers."""
    node, nodes = 0, tree.nodes
    while nodes.feature[node] >= 0:
        own = bins[nodes.feature[node]]
        left = nodes.missing_left[node] if own == missing_bin else None
        if left is None:
            left = own <= nodes.bin_threshold[node]
        node = nodes.left_child[node] + (0 if left else 1)
    return node


def out_of_bag(trees, draws, bins, missing_bin, mean_of):
    """Return everybody's mean over the trees that have not drawn it.

    ``mean_of(members, counts)`` is the prediction of a leaf; ``draws`` has a row for each
    individual, a column for each tree.
    """
    leaves = [[walk(tree, row, missing_bin) for row in bins] for tree in trees]
    predicted = []
    for i in range(len(bins)):
        found = []
        for b in range(len(trees)):
            if draws[i, b] > 0:
                continue
            members = [j for j in range(len(bins)) if leaves[b][j] == leaves[b][i]]
            members = [j for j in members if draws[j, b] > 0]
            found.append(mean_of(members, [draws[j, b] for j in members]))
        predicted.append(np.mean(found) if found else np.nan)
    return np.array(predicted)


def solve_bounded(gradient, matrix, low, high):
    """Return the best coefficients within bounds, and how far they lower the objective.

    Every term is free, or at one of its bounds; all combinations are tried.
    """
    best = None, -np.inf
    for places in product(("free", "low", "high"), repeat=len(gradient)):
        beta = np.where(np.array(places) == "low", low, high)
        is_free = np.array(places) == "free"
        if not np.all(np.isfinite(beta[~is_free])):
            continue
        if is_free.any():
            pull = gradient[is_free] + matrix[np.ix_(is_free, ~is_free)] @ beta[~is_free]
            beta[is_free] = -np.linalg.solve(matrix[np.ix_(is_free, is_free)], pull)
        beta = np.where(is_free, beta, np.clip(beta, low, high))
        drop = -objective(beta, gradient, matrix)
        if np.all((beta >= low) & (beta <= high)) and drop > best[1]:
            best = beta, drop
    return best


def solve_ordered(left, right, sign, low, high):
    """Return what two sides, each (gradient, matrix), gain in order, and their middle."""
    found = [solve_bounded(*one, low, high) for one in (left, right)]
    middle = 0.5 * (found[0][0] + found[1][0])
    if np.any(sign * (found[1][0] - found[0][0]) < 0.0):
        below, above = (low, middle), (middle, high)
        bounds = (below, above) if sign > 0 else (above, below)
        pairs = zip((left, right), bounds, strict=True)
        found = [solve_bounded(*one, *own) for one, own in pairs]
    return found[0][1] + found[1][1], middle
