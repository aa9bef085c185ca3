import { createRequire } from 'node:module';
import { Unavailable } from '../schema/outcome.ts';

/** The used parts of the layout engine elkjs. It is an optional dependency, so the sources declare their own types. */

export type ElkPoint = { x: number; y: number };

type ElkShape = { x?: number; y?: number; width?: number; height?: number };

type LayoutOptions = { layoutOptions?: Record<string, string> };

export type ElkLabel = ElkShape & LayoutOptions & { text?: string };

export type ElkEdge = LayoutOptions & {
  id: string;
  sources: string[];
  targets: string[];
  labels?: ElkLabel[];
  /** Filled in by the engine. */
  sections?: { startPoint: ElkPoint; bendPoints?: ElkPoint[]; endPoint: ElkPoint }[];
};

export type ElkNode = ElkShape &
  LayoutOptions & { id: string; labels?: ElkLabel[]; children?: ElkNode[]; edges?: ElkEdge[] };

/** Positions the boxes of a graph and routes its edges. */
export type LayoutEngine = (graph: ElkNode) => Promise<ElkNode>;

export type ElkClass = new () => { layout: LayoutEngine };

const ENGINE = 'elkjs/lib/elk.bundled.js';

const { resolve } = createRequire(import.meta.url);

/** @throws Unavailable when elkjs is not installed */
export function findElk(): string {
  try {
    return resolve(ENGINE);
  } catch (cause) {
    throw new Unavailable(
      'an SVG is laid out by the package elkjs, which is not installed: npm install elkjs',
      { cause },
    );
  }
}

/** @throws Unavailable when elkjs is not installed */
export const loadElk = (): ElkClass => createRequire(import.meta.url)(findElk());
