import { closed, opened, type Programs, received, refuse } from './programs.ts';

/** One connection of a program, on either HTTP server. */
export type Report = {
  message(bytes: Uint8Array, isBinary: boolean): void;
  /** The connection is closed. */
  end(): void;
};

export const openReport = (programs: Programs, name: string): Report => {
  const program = opened(programs, name);
  return {
    message(bytes, isBinary) {
      if (isBinary) refuse(program, 'a message is binary');
      else received(programs, program, bytes);
    },
    end: () => closed(programs, program),
  };
};

/** Maximum of unread bytes. The listener sends pongs only; further ones are dropped. */
export const MOST_UNREAD_BYTES = 64 * 1024;

/** A connection without incoming data for this long is closed, after a ping. */
export const IDLE_SECONDS = 60;
