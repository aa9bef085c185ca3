import { Worker } from 'node:worker_threads';
import { type ElkNode, findElk, type LayoutEngine } from './elk.ts';

/**
 * Runs the layout engine in a separate thread, for machines of other programs: the layout of a foreign machine may take
 * any time, and must not block the service. The thread exists for one task and ends with it.
 */

/**
 * The whole program of the thread. It is plain text because it uses no code of the service, and a bundle has no file to
 * name.
 */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const Elk = require(workerData);
const elk = new Elk();
parentPort.on('message', ({ id, graph }) => {
  elk.layout(graph).then(
    (laidOut) => parentPort.postMessage({ id, laidOut }),
    (error) => parentPort.postMessage({ id, problem: String(error && error.message) }),
  );
});
`;

/** Message from the thread, which runs the program above. */
type Answer = { id: number } & ({ laidOut: ElkNode } | { problem: string });

const MEMORY = { maxOldGenerationSizeMb: 256 };

/** @throws Unavailable without the engine; the engine's error for a graph; or an error after `ms` */
export const layoutInThread = async <T>(
  work: (engine: LayoutEngine) => Promise<T>,
  ms: number,
): Promise<T> => {
  const thread = new Worker(PROGRAM, {
    eval: true,
    env: {},
    workerData: findElk(),
    resourceLimits: MEMORY,
  });
  thread.unref();
  const waiting = new Map<number, { resolve(graph: ElkNode): void; reject(error: Error): void }>();
  thread.on('message', (answer: Answer) => {
    const pending = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('laidOut' in answer) pending?.resolve(answer.laidOut);
    else pending?.reject(new Error(answer.problem));
  });
  const engine: LayoutEngine = (graph) =>
    new Promise((resolve, reject) => {
      const id = waiting.size === 0 ? 0 : Math.max(...waiting.keys()) + 1;
      waiting.set(id, { resolve, reject });
      thread.postMessage({ id, graph });
    });
  let timer: NodeJS.Timeout | undefined;
  const failed = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${ms / 1000} seconds`)), ms).unref();
    thread.on('error', reject);
  });
  try {
    return await Promise.race([work(engine), failed]);
  } finally {
    clearTimeout(timer);
    void thread.terminate();
  }
};
