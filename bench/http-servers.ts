import { createRunBody } from '../src/load-generator/index.ts';
import type { Context } from './benchmark.ts';
import { type Load, type Played, playLoad } from './load.ts';
import { findNodes, HTTP_SERVER_NAMES, type HttpServer, type Node, type Nodes } from './nodes.ts';
import type { Measured } from './row.ts';
import { startTroupe } from './servers.ts';

/**
 * CPU time of a stream with each HTTP server on each version of Node. The baseline of `node:http` is uWebSockets.js on
 * the same Node; if its binary does not load, and for uWebSockets.js itself, the first row.
 */

type Variant = { name: string; http: HttpServer; node: Node; played: Played };

let found: Nodes | undefined;

const nodesOf = ({ short, root, note }: Context): Node[] => {
  found ??= findNodes(root, short);
  for (const text of found.missing) note(text);
  return found.nodes;
};

const play = async (context: Context, http: HttpServer, node: Node, load: Load): Promise<Played> => {
  const server = await startTroupe(context, { node: node.command, flags: ['--http-server', http] });
  try {
    if (!context.short) await playLoad(server, { ...load, duration_ms: 2000 });
    return await playLoad(server, load);
  } finally {
    await server.process.stop();
  }
};

const baselineOf = (variant: Variant, variants: readonly Variant[]): Variant | undefined => {
  const same = variants.find(({ http, node }) => http === 'uws' && node === variant.node);
  return [same, variants[0]].find((other) => other && other !== variant);
};

const rowOf = (variant: Variant, variants: readonly Variant[]): Measured => {
  const { name, played } = variant;
  const baseline = variant === variants[0] ? undefined : baselineOf(variant, variants);
  const rates: [number, number?] = baseline ? [played.rate, baseline.played.rate] : [played.rate];
  return {
    metric: `a stream, all at once, ${name}`,
    unit: 'ms of CPU',
    ...(baseline && { baseline: baseline.name }),
    rounds: [
      {
        value: played.cost,
        ...(baseline && { baseline: baseline.played.cost }),
        rates,
        // Another process on the core delays a stream; CPU time counts as long as the server has enough of it.
        shares: { [name]: played.granted, ...(baseline && { [baseline.name]: baseline.played.granted }) },
        p50: played.p50,
        p99: played.p99,
      },
    ],
  };
};

export const measureHttpServers = async (context: Context, load: Load): Promise<Measured[]> => {
  const variants: Variant[] = [];
  for (const node of nodesOf(context)) {
    for (const http of node.servers) {
      const played = await play(context, http, node, { ...load, body: createRunBody('bench') });
      variants.push({ name: `${HTTP_SERVER_NAMES[http]} on Node ${node.major}`, http, node, played });
    }
  }
  return variants.map((variant) => rowOf(variant, variants));
};
