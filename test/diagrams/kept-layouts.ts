import { type ElkNode, loadElk } from '../../src/diagrams/elk.ts';

/** Caches layouts in this process. Many tests use the same pictures, and the layout engine takes seconds for them. */

const { prototype } = loadElk();
const { layout } = prototype;

const kept = new Map<string, Promise<string>>();
let isAnew = false;

prototype.layout = async function (graph: ElkNode) {
  if (isAnew) return layout.call(this, graph);
  const given = JSON.stringify(graph);
  const known =
    kept.get(given) ?? layout.call(this, graph).then((laidOut: ElkNode) => JSON.stringify(laidOut));
  kept.set(given, known);
  return JSON.parse(await known);
};

/** Draws without the cache. */
export const laidOutAnew = async <Drawn>(draw: () => Promise<Drawn>): Promise<Drawn> => {
  isAnew = true;
  try {
    return await draw();
  } finally {
    isAnew = false;
  }
};
