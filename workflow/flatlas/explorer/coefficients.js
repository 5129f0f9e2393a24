// Rank coefficients and their intervals, as flatlas.statistics.rank_correlation has them. Pure
// functions of arrays; tests/explorer compares them with Python's and SciPy's.

const RESAMPLES = 1000;
// The least number of independent comparisons of clusters for an interval; each given variable takes
// one more. As in rank_correlation.py.
const FEWEST = 4;
// A variable is determined by the given ones if they leave less than this share of it.
const NOTHING = 1e-9;

// Numbers from 0 to 1, always the same (mulberry32).
function randomNumbers(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// Labels as 0, 1, 2, …
function numbered(labels) {
  const numbers = new Map();
  return labels.map((label) => {
    if (!numbers.has(label)) numbers.set(label, numbers.size);
    return numbers.get(label);
  });
}

// Kendall's τ of the first two of some variables, given the others, over pairs of points in one
// stratum. With one stratum and nothing given it is τ-b. In steps, since the pairs are many. Returns
// its `value`; `of(times)`, the value if each of `count` clusters is drawn so many times; and how many
// clusters are `known` for an interval.
function* kendall(variables, strata, clusters) {
  const points = variables[0].length;
  const names = numbered(clusters);
  const count = Math.max(...names, -1) + 1;
  const size = variables.length;
  const products = (size * (size + 1)) / 2;
  // Sums over pairs of points of products of two signs, for each pair of clusters a >= b.
  const sums = new Float64Array(count * count * products);
  const parent = Array.from({ length: count }, (_, cluster) => cluster);
  const root = (cluster) => (parent[cluster] === cluster ? cluster : (parent[cluster] = root(parent[cluster])));
  const signs = new Float64Array(size);
  for (let i = 0; i < points; i++) {
    for (let j = 0; j < i; j++) {
      if (strata[i] !== strata[j]) continue;
      const [a, b] = names[i] > names[j] ? [names[i], names[j]] : [names[j], names[i]];
      if (parent[a] !== parent[b]) parent[root(a)] = root(b);
      for (let v = 0; v < size; v++) signs[v] = Math.sign(variables[v][i] - variables[v][j]);
      let place = (a * count + b) * products;
      for (let v = 0; v < size; v++) for (let w = v; w < size; w++) sums[place++] += signs[v] * signs[w];
    }
    yield;
  }
  // Copies of one cluster are not compared with each other.
  const of = (times) => {
    const total = new Float64Array(products);
    for (let a = 0; a < count; a++) {
      if (times[a] === 0) continue;
      for (let b = 0; b <= a; b++) {
        const weight = a === b ? times[a] : times[a] * times[b];
        if (weight === 0) continue;
        const place = (a * count + b) * products;
        for (let p = 0; p < products; p++) total[p] += weight * sums[place + p];
      }
    }
    return partial(total, size);
  };
  const compared = count - parent.filter((_, cluster) => root(cluster) === cluster).length;
  const given = size - 2;
  if (given > 0 && given >= compared) return { value: NaN, of, count, known: 0 };
  const known = compared >= FEWEST + given ? compared + 1 : 1;
  return { value: of(new Float64Array(count).fill(1)), of, count, known };
}

// All steps at once.
function finished(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

// The correlation of the first two variables, given the rest, from the sums of their products: (0, 0),
// (0, 1), … (1, 1), …
function partial(sums, size) {
  const r = Array.from({ length: size }, () => new Float64Array(size));
  for (let v = 0, place = 0; v < size; v++) for (let w = v; w < size; w++) r[v][w] = r[w][v] = sums[place++];
  const scale = r.map((row, v) => Math.sqrt(row[v]));
  for (let v = 0; v < size; v++) {
    for (let w = 0; w < size; w++) r[v][w] = scale[v] && scale[w] ? r[v][w] / (scale[v] * scale[w]) : 0;
  }
  for (let z = size - 1; z > 1; z--) {
    const left = r[z][z];
    if (left < NOTHING) continue;
    const row = [...r[z]];
    for (let v = 0; v < size; v++) {
      for (let w = 0; w < size; w++) r[v][w] -= (row[v] * row[w]) / left;
    }
  }
  const enough = r[0][0] > NOTHING && r[1][1] > NOTHING;
  return enough ? r[0][1] / Math.sqrt(r[0][0] * r[1][1]) : NaN;
}

// Spearman's ρ, with mean ranks for ties; the same as `kendall` returns.
function spearman(x, y, clusters) {
  const names = numbered(clusters);
  const count = Math.max(...names, -1) + 1;
  const orders = [x, y].map((values) => Uint32Array.from(values.keys()).sort((i, j) => values[i] - values[j]));
  const ranks = [x, y].map(() => new Float64Array(x.length));
  const of = (times) => {
    [x, y].forEach((values, v) => {
      let below = 0;
      for (let start = 0, end; start < x.length; start = end) {
        let ties = 0;
        for (end = start; end < x.length && values[orders[v][end]] === values[orders[v][start]]; end++) {
          ties += times[names[orders[v][end]]];
        }
        for (let k = start; k < end; k++) ranks[v][orders[v][k]] = below + (ties + 1) / 2;
        below += ties;
      }
    });
    return pearson(...ranks, names.map((name) => times[name]));
  };
  return { value: of(new Float64Array(count).fill(1)), of, count, known: count > FEWEST ? count : 1 };
}

function pearson(x, y, weights) {
  let n = 0, sx = 0, sy = 0;
  for (let i = 0; i < x.length; i++) (n += weights[i]), (sx += weights[i] * x[i]), (sy += weights[i] * y[i]);
  let xx = 0, yy = 0, xy = 0;
  for (let i = 0; i < x.length; i++) {
    const dx = x[i] - sx / n, dy = y[i] - sy / n;
    (xx += weights[i] * dx * dx), (yy += weights[i] * dy * dy), (xy += weights[i] * dx * dy);
  }
  return xx > 0 && yy > 0 && n > 2 ? xy / Math.sqrt(xx * yy) : NaN;
}

// The 95 % bootstrap interval of a coefficient, in steps: whole clusters are drawn, always the same
// ones. `tails[known]` is the share of resamples beyond each end (flatlas.statistics.estimate).
function* interval(coefficient, tails) {
  const { of, count, known } = coefficient;
  if (known < 2 || !Number.isFinite(coefficient.value)) return [NaN, NaN];
  const random = randomNumbers(1);
  const found = [];
  for (let resample = 0; resample < RESAMPLES; resample++) {
    const times = new Float64Array(count);
    for (let draw = 0; draw < count; draw++) times[Math.floor(random() * count)]++;
    const value = of(times);
    if (Number.isFinite(value)) found.push(value);
    yield;
  }
  if (!found.length) return [NaN, NaN];
  found.sort((a, b) => a - b);
  return [tails[known], 1 - tails[known]].map((share) => quantile(found, share));
}

function quantile(sorted, share) {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}
