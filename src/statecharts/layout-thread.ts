import { Worker } from 'node:worker_threads';
import { type ElkNode, findElk, type LayoutEngine } from './elk.ts';

/**
 * The layout engine in a thread of its own, for machines that are not the service's: laying out what somebody else
 * wrote may take any time, and nobody else waits for it. The thread is there for one piece of work and ends with it.
 */

/** All that runs there. Plain text, since nothing of the service is in it and a bundle has no file to name. */
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

/** What the thread answers; it runs the program above. */
type Answer = { id: number } & ({ laidOut: ElkNode } | { problem: string });

const MEMORY = { maxOldGenerationSizeMb: 256 };

/** @throws Unavailable without the engine; what it says of a graph; or that it took longer than `ms` */
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
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('laidOut' in answer) asked?.resolve(answer.laidOut);
    else asked?.reject(new Error(answer.problem));
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
