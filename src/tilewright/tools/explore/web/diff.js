/* Differences of two lists of lines, as [from, to, first, end]: lines from..to of the old became first..end of the new. */

const MOST_EDITS = 1500;
/* Of texts that differ more, everything between their common ends is one change. */

/** Myers' O(ND) algorithm ("An O(ND) Difference Algorithm and Its Variations", 1986) between common ends. */
function changesBetween(before, after) {
  let start = 0, tail = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  while (tail < before.length - start && tail < after.length - start
    && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const old = before.slice(start, before.length - tail), young = after.slice(start, after.length - tail);
  if (!old.length && !young.length) return [];
  return joined(edits(old, young), old.length, young.length)
    .map(([from, to, first, end]) => [from + start, to + start, first + start, end + start]);
}

/** Pairs of equal lines, in order. */
function edits(old, young) {
  const furthest = new Map([[1, 0]]), trace = [];
  for (let count = 0; count <= Math.min(old.length + young.length, MOST_EDITS); count++) {
    trace.push(new Map(furthest));
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      const down = diagonal === -count
        || (diagonal !== count && (furthest.get(diagonal - 1) ?? -1) < (furthest.get(diagonal + 1) ?? -1));
      let x = down ? furthest.get(diagonal + 1) : furthest.get(diagonal - 1) + 1;
      while (x < old.length && x - diagonal < young.length && old[x] === young[x - diagonal]) x++;
      furthest.set(diagonal, x);
      if (x >= old.length && x - diagonal >= young.length) return pairs(trace, old.length, young.length);
    }
  }
  return [];
}

/** The way back through the rounds: equal lines, in order. */
function pairs(trace, x, y) {
  const found = [];
  for (let count = trace.length - 1; count >= 0; count--) {
    const furthest = trace[count], diagonal = x - y;
    const down = diagonal === -count
      || (diagonal !== count && (furthest.get(diagonal - 1) ?? -1) < (furthest.get(diagonal + 1) ?? -1));
    const from = down ? diagonal + 1 : diagonal - 1, toX = furthest.get(from), toY = toX - from;
    while (x > toX && y > toY) found.push([--x, --y]);
    if (count) [x, y] = [toX, toY];
  }
  return found.reverse();
}

function joined(same, oldLength, youngLength) {
  const changes = [];
  let x = 0, y = 0;
  for (const [toX, toY] of [...same, [oldLength, youngLength]]) {
    if (toX > x || toY > y) changes.push([x, toX, y, toY]);
    x = toX + 1; y = toY + 1;
  }
  return changes;
}
