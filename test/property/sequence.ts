import { createClient, createRunReader, type Input, type Request } from './client.ts';
import { createTail, type Tail } from './event-tail.ts';
import { eventsOf, type Ground, type Life, startLife } from './service.ts';
import type { Gap } from './steps.ts';

/**
 * One sequence during its execution: the service in its current life, and the requests and observations of its clients.
 */

export const THREADS = ['t0', 't1'] as const;

export type SeenTicket = { run_id: string; call_id: string; ticket_id: string };

export type Decided = Request & { run_id: string; call_id: string; refuses: boolean };

export type Sequence = Ground & {
  life: Life;
  client: ReturnType<typeof createClient>;
  lives: number;
  inputs: Input[];
  decisions: Decided[];
  removals: Request[];
  others: Request[];
  tails: Map<string, Tail>;
  /** The life of the service in which the store last rejected a write. */
  refused: number | undefined;
};

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs all internal work up to the points that wait for the test. */
export const settle = async (): Promise<void> => {
  for (let count = 0; count < 3; count += 1) await turn();
};

export const begin = (ground: Ground): Sequence => {
  const life = startLife(ground);
  const tails = THREADS.map((thread): [string, Tail] => [
    thread,
    createTail(life.feed, ground.scope, thread),
  ]);
  return {
    ...ground,
    life,
    client: createClient(life, ground),
    lives: 1,
    inputs: [],
    decisions: [],
    removals: [],
    others: [],
    tails: new Map(tails),
    refused: undefined,
  };
};

const requestsOf = ({ inputs, decisions, removals, others }: Sequence): Request[] => [
  ...inputs,
  ...decisions,
  ...removals,
  ...others,
];

/** Ends the process and starts the next one on the same store. */
export const nextLife = (sequence: Sequence): void => {
  for (const request of requestsOf(sequence)) if (!request.answer) request.lost = true;
  sequence.time.clear();
  sequence.steered.models.clear();
  sequence.steered.calls.clear();
  sequence.life = startLife(sequence);
  sequence.client = createClient(sequence.life, sequence);
  sequence.lives += 1;
  for (const tail of sequence.tails.values()) tail.follow(sequence.life.feed);
};

/** Waits until nothing changes without a model, a tool, time or a client. */
export const quiet = async ({ life: { gated, recovered } }: Sequence): Promise<void> => {
  await settle();
  for (let rounds = 0; gated.waiting() + gated.unflushed() > 0 || !recovered(); rounds += 1) {
    if (rounds > 300) throw new Error('the service does not stop writing');
    await gated.write(gated.waiting());
    gated.flush();
    await settle();
  }
};

export const pause = async (sequence: Sequence, gap: Gap): Promise<void> => {
  if (gap === 'quiet') return quiet(sequence);
  if (gap === 'turn') return settle();
  for (let count = 0; count < gap; count += 1) await Promise.resolve();
};

/** Opens every gate and advances time until no work is left. */
export const finish = async (sequence: Sequence): Promise<void> => {
  const { steered, time } = sequence;
  sequence.life.gated.accept();
  let idle = 0;
  for (let rounds = 0; ; rounds += 1) {
    if (rounds > 200) throw new Error('the service does not come to rest');
    await quiet(sequence);
    if (steered.models.size() > 0) steered.models.open(0, true);
    else if (steered.calls.size() > 0) steered.calls.open(0, true);
    else if (time.waits()) await time.advance(1000, () => quiet(sequence));
    else if (idle > 1) return;
    else {
      // Long enough for the recovery of abandoned work.
      idle += 1;
      await time.advance(31_000, () => quiet(sequence));
    }
  }
};

export const ask = <Kind extends Request>(
  sequence: Sequence,
  request: Omit<Kind, keyof Request> & Pick<Request, 'name' | 'thread'>,
  send: (request: Kind) => Promise<NonNullable<Request['answer']>>,
): Kind => {
  const askedAt = requestsOf(sequence).length;
  const blank = { answer: undefined, answeredAt: undefined, askedAt, lost: false };
  // The three parts together have all keys of this kind of request.
  const made = { ...blank, ...request } as unknown as Kind;
  send(made).then((answer) => {
    made.answer = answer;
    made.answeredAt = requestsOf(sequence).length;
  });
  return made;
};

export const inputOf = (
  sequence: Sequence,
  { name, plan, ...rest }: Pick<Input, 'thread' | 'mode' | 'name' | 'agent' | 'into'> & { plan: string },
  streams = false,
) => ({
  ...rest,
  text: `m${sequence.inputs.length}:${plan}`,
  name: `${name} m${sequence.inputs.length}`,
  stream: streams ? createRunReader() : undefined,
});

/** Tickets that clients have received, newest first. */
export const ticketsOf = (sequence: Sequence): SeenTicket[] =>
  THREADS.flatMap((thread) => eventsOf(sequence, thread))
    .filter(({ event_kind }) => event_kind === 'ToolCallSuspended')
    .map(({ run_id = '', payload }) => {
      // The payload of this kind is a `tool_call_done` event with a ticket in its result (runtime.md 13.4).
      const done = payload as { id: string; result: { suspension: { suspension: { id: string } } } };
      return { run_id, call_id: done.id, ticket_id: done.result.suspension.suspension.id };
    })
    .reverse();
