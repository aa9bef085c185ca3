import type { Encoder } from '../runtime/run/live-channel.ts';
import type { RunEvent } from '../schema/run-event.ts';

/** Returns an event as a reader may see it: without the ids of runs that started the run and that are hidden from it. */
export type ShownRunEvent = (event: RunEvent) => RunEvent;

/**
 * Returns the protocol for a reader from whom a part of the events is hidden. Readers of a channel with protocols of one
 * name share an encoder, so the protocol of such readers has another name.
 */
export const shownProtocol = <Base extends { name?: string; createEncoder(): Encoder }>(
  protocol: Base,
  shown: ShownRunEvent | undefined,
): Base =>
  shown === undefined
    ? protocol
    : {
        ...protocol,
        ...(protocol.name !== undefined && { name: `${protocol.name} without hidden runs` }),
        createEncoder() {
          const encoder = protocol.createEncoder();
          return { ...encoder, event: (event: RunEvent) => encoder.event(shown(event)) };
        },
      };
