import type { RunStream } from '../../loop/turn.ts';
import type { RunAdapter } from '../../schema/activation.ts';
import type { RunEvent } from '../../schema/run-event.ts';

/**
 * The live channel of a run: from the loop to every reader.
 *
 * Guarantees: an event is encoded at most once per protocol, regardless of the number of readers; readers receive whole
 * frames in order; a held channel emits nothing until it is released, so that no reader sees a run whose acceptance is
 * not durable. A reader never slows the run down: it accepts text and returns.
 * Cost, per delta and protocol: one encoding, and one call for each reader.
 */

/**
 * Turns events into frames of one protocol. An empty string means that the protocol has no frame for the event. `whole`:
 * see `RunStream`.
 */
export type Encoder = {
  event(event: RunEvent): string;
  text(delta: string, whole?: string): string;
  reasoning(delta: string, whole?: string): string;
  toolDelta(id: string, argsDelta: string): string;
};

/** Encoders may keep state, so each channel creates its own. */
export type Protocol = {
  readonly name: string;
  /** The adapter that sends the frames to its client; set if the end of a run depends on whether one reads them. */
  readonly adapter?: RunAdapter;
  createEncoder(): Encoder;
};

export type Reader = {
  write(frames: string, count: number): void;
  /** No more frames will follow. */
  end(): void;
};

export type Channel = RunStream & {
  /** Adds a reader for future frames. The returned function removes it. */
  attach(protocol: Protocol, reader: Reader): () => void;
  release(): void;
  /** Whether the channel emits nothing yet. */
  isHeld(): boolean;
  /** Whether a reader receives the frames. */
  isRead(): boolean;
  /** Whether a reader of a protocol of the adapter receives the frames. */
  isReadBy(adapter: RunAdapter): boolean;
  /** Called after the last event. A held channel closes when it is released. */
  close(): void;
};

/** Attaches the readers to a channel, before its first event. */
export type Attach = (channel: Channel) => void;

type Group = {
  adapter: RunAdapter | undefined;
  encoder: Encoder;
  readers: Set<Reader>;
  held: string;
  heldFrames: number;
};

export const createChannel = (options: { held: boolean }): Channel => {
  const groups = new Map<string, Group>();
  let { held } = options;
  let closed = false;

  const deliver = (group: Group, frame: string): void => {
    if (frame === '') return;
    if (held) {
      group.held += frame;
      group.heldFrames += 1;
      return;
    }
    for (const reader of group.readers) reader.write(frame, 1);
  };

  const endReaders = (): void => {
    for (const group of groups.values()) {
      for (const reader of group.readers) reader.end();
      group.readers.clear();
    }
  };

  return {
    emit(event) {
      for (const group of groups.values()) deliver(group, group.encoder.event(event));
    },
    text(delta, whole) {
      for (const group of groups.values()) deliver(group, group.encoder.text(delta, whole));
    },
    reasoning(delta, whole) {
      for (const group of groups.values()) deliver(group, group.encoder.reasoning(delta, whole));
    },
    toolDelta(id, argsDelta) {
      for (const group of groups.values()) deliver(group, group.encoder.toolDelta(id, argsDelta));
    },
    attach(protocol, reader) {
      const { readers } = groups.get(protocol.name) ?? addGroup(groups, protocol);
      if (closed && !held) reader.end();
      else readers.add(reader);
      return () => readers.delete(reader);
    },
    release() {
      if (!held) return;
      held = false;
      for (const group of groups.values()) {
        if (group.heldFrames > 0)
          for (const reader of group.readers) reader.write(group.held, group.heldFrames);
        group.held = '';
        group.heldFrames = 0;
      }
      if (closed) endReaders();
    },
    isHeld: () => held,
    isRead: () => [...groups.values()].some(({ readers }) => readers.size > 0),
    isReadBy: (adapter) =>
      [...groups.values()].some((group) => group.adapter === adapter && group.readers.size > 0),
    close() {
      closed = true;
      if (!held) endReaders();
    },
  };
};

function addGroup(groups: Map<string, Group>, protocol: Protocol): Group {
  const { name, adapter } = protocol;
  const encoder = protocol.createEncoder();
  const group: Group = { adapter, encoder, readers: new Set(), held: '', heldFrames: 0 };
  groups.set(name, group);
  return group;
}
