/** Points along a way through a chart. Pure. */

export type Point = { x: number; y: number };

const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y);

export const lengthOf = (points: readonly Point[]): number =>
  points.reduce((sum, point, index) => sum + distance(point, points[index - 1] ?? point), 0);

/** The point at a distance along the way. */
export const along = (points: readonly Point[], far: number): Point => {
  let left = far;
  for (let index = 1; index < points.length; index += 1) {
    const [from, to] = [points[index - 1], points[index]];
    if (!from || !to) break;
    const stretch = distance(from, to);
    if (left <= stretch && stretch > 0) {
      const part = left / stretch;
      return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
    }
    left -= stretch;
  }
  return points.at(-1) ?? { x: 0, y: 0 };
};

/** The rest of the way after a distance, starting with the point at that distance. */
export const restOf = (points: readonly Point[], far: number): Point[] => {
  let passed = 0;
  const index = points.findIndex((point, place) => {
    passed += distance(point, points[place - 1] ?? point);
    return passed > far;
  });
  return index === -1 ? points.slice(-1) : [along(points, far), ...points.slice(index)];
};
