import { lstatSync, type Stats, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { Unavailable } from '../schema/outcome.ts';

/**
 * Manages the file of a Unix socket.
 *
 * A killed process leaves its file behind, and the next one cannot listen as long as the file exists. A file on which
 * another process still listens is never removed.
 */

const isSocketInUse = (path: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false);
      // The backlog of a listening process is full.
      else if (error.code === 'EAGAIN') resolve(true);
      else reject(new Unavailable(`cannot listen on unix:${path}: ${error.message}`, { cause: error }));
    });
  });

/**
 * Removes the file of a process that no longer listens.
 *
 * @throws Unavailable when another process listens on it, or the file is not a socket
 */
export const removeStaleSocket = async (path: string): Promise<void> => {
  const found = statOf(path);
  if (!found) return;
  if (!found.isSocket()) throw new Unavailable(`cannot listen on unix:${path}: the file is not a socket`);
  if (await isSocketInUse(path)) {
    throw new Unavailable(`cannot listen on unix:${path}: another process listens on it`);
  }
  unlinkSync(path);
};

/** Returns a function that removes the current file, but not one with which another process has replaced it. */
export const ownSocket = (path: string): (() => void) => {
  const own = statOf(path);
  return () => {
    const found = statOf(path);
    if (own && found?.ino === own.ino && found.dev === own.dev) unlinkSync(path);
  };
};

const statOf = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });
