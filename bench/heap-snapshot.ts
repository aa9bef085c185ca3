import type { CDPSession } from 'playwright-core';

/** The parts of a V8 heap snapshot that are read here: nodes are rows of numbers in one array. */
type Snapshot = {
  snapshot: { meta: { node_fields: string[]; node_types: [string[], ...unknown[]] } };
  nodes: number[];
};

/**
 * Bytes of the heap that are compiled code: machine code, bytecode and the feedback of functions. It grows with the
 * number of calls until V8 has optimized what is called often, although the page keeps nothing more.
 */
export const codeBytes = async (session: CDPSession): Promise<number> => {
  const chunks: string[] = [];
  const add = ({ chunk }: { chunk: string }): void => void chunks.push(chunk);
  session.on('HeapProfiler.addHeapSnapshotChunk', add);
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  session.off('HeapProfiler.addHeapSnapshotChunk', add);
  const { snapshot, nodes }: Snapshot = JSON.parse(chunks.join(''));
  const { node_fields: fields, node_types } = snapshot.meta;
  const [type, size] = [fields.indexOf('type'), fields.indexOf('self_size')];
  const code = node_types[0].indexOf('code');
  let bytes = 0;
  for (let at = 0; at < nodes.length; at += fields.length)
    if (nodes[at + type] === code) bytes += nodes[at + size] ?? 0;
  return bytes;
};
