import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { relative } from 'node:path';

/**
 * One run at a time in a checkout: the next one would take the bundle away from under the first. A socket tells who is
 * there, and is refused as soon as its process is gone, however it ended.
 *
 * @param folder where runs that exclude each other meet
 * @returns what lets the next one in
 * @throws Error when there is another
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
