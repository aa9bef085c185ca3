import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { relative } from 'node:path';

/**
 * Allows one run at a time in a checkout, because a second run would replace the bundle of the first. The lock is a
 * socket, which refuses connections as soon as its process has ended in any way.
 *
 * @param folder shared by the runs that exclude each other
 * @returns a function that releases the lock
 * @throws Error if another run holds the lock
 */
export const runAlone = async (folder: string): Promise<() => void> => {
  mkdirSync(folder, { recursive: true });
  // The name of a socket has at most 103 bytes on some systems.
  const socket = relative(process.cwd(), `${folder}/running`);
  if (await answers(socket))
    throw new Error(
      'another run of the tests is under way in this checkout: wait for it, or use another clone',
    );
  rmSync(socket, { force: true });
  const server = createServer((caller) => caller.end());
  server.listen(socket);
  await once(server, 'listening');
  server.unref();
  return () => server.close();
};

const answers = async (socket: string): Promise<boolean> => {
  const caller = connect(socket);
  try {
    await once(caller, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    caller.destroy();
  }
};
