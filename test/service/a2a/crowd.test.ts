import t from 'tap';
import type { StreamResponse } from '../../../src/protocols/a2a/model.ts';
import { textOf as contentOf } from '../../../src/schema/message.ts';
import { LONG } from '../../long.ts';
import type { Inference } from '../models.ts';
import { eventually } from '../troupe.ts';
import { a2aFor, heardIn, statesIn, type TaskReader, textOf } from './tasks-client.ts';

/**
 * Many concurrent tasks, each with a subscriber: half of them subscribe at the start, the others in the middle of the
 * response. 100 tasks, 500 with TROUPE_TEST_LONG.
 */

const TASKS = LONG ? 500 : 100;

const WORDS = 12;

const wordsOf = (name: string): string[] => Array.from({ length: WORDS }, (_, i) => `${name}.${i} `);

const taskIn = (event: StreamResponse): string => {
  if ('task' in event) return event.task.id;
  if ('statusUpdate' in event) return event.statusUpdate.taskId;
  return 'artifactUpdate' in event ? event.artifactUpdate.taskId : 'none';
};

const ORDER = ['SUBMITTED', 'WORKING', 'COMPLETED'];

t.test(`each of ${TASKS} subscribers receives its task completely and in order`, async (t) => {
  const settings = { max_concurrent_requests: 4 * TASKS };
  const { begin, get, subscribe, troupe } = await a2aFor(t, { settings });
  let halfway = 0;
  let goOn = (): void => {};
  const released = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const answer: Inference = async (sink, request) => {
    const words = wordsOf(contentOf(request.messages.at(-1)?.content ?? []));
    for (const word of words.slice(0, WORDS / 2)) sink.text(word);
    halfway += 1;
    await released;
    for (const word of words.slice(WORDS / 2)) {
      sink.text(word);
      await new Promise(setImmediate);
    }
    return { stop: 'EndTurn' };
  };
  troupe.models.steps.push(...Array<Inference>(TASKS).fill(answer));

  const names = Array.from({ length: TASKS }, (_, i) => `task${i}`);
  const begun = await Promise.all(
    names.map(async (name, i) => {
      const { id } = await begin({ tenant: 'steps', text: name });
      return { id, name, early: i % 2 === 0 ? await subscribe(id) : undefined };
    }),
  );
  await eventually(
    async () => halfway,
    (count) => count === TASKS,
  );
  const reading = begun.map(async ({ early, id, name }) => {
    const reader: TaskReader = early ?? (await subscribe(id));
    const first = await reader.next();
    return { id, name, early, first, rest: reader.rest() };
  });
  const readers = await Promise.all(reading);
  goOn();
  const wrong: unknown[] = [];
  for (const { id, name, early, first, rest } of readers) {
    const events = [...(first ? [first] : []), ...(await rest)];
    const said = wordsOf(name).join('');
    const states = statesIn(events);
    const end = await get(id);
    const isRight =
      events.every((event) => taskIn(event) === id) &&
      heardIn(events) === said &&
      textOf(end.artifacts?.[0] ?? { parts: [] }) === said &&
      states.every((state, i) => i === 0 || ORDER.indexOf(state) > ORDER.indexOf(states[i - 1] ?? '')) &&
      states.at(-1) === 'COMPLETED' &&
      (early !== undefined ||
        heardIn(first ? [first] : []) ===
          wordsOf(name)
            .slice(0, WORDS / 2)
            .join(''));
    if (!isRight) wrong.push({ name, states, heard: heardIn(events), first });
  }
  t.strictSame(wrong.slice(0, 3), [], 'every subscriber received all events of its task');
  t.equal(readers.length, TASKS);
});
