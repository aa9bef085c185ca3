import t from 'tap';
import {
  a2aTaskMachine,
  isInterrupted,
  isTerminal,
  isTerminalOrInterrupted,
  mayTake,
  TASK_STATES,
  taskAt,
  updateEventOf,
} from '../../machines/a2a-task.ts';
import { pathOf, untaken, walk } from './walk.ts';

const EVENTS = [
  ...['START', 'ASK_FOR_INPUT', 'ASK_FOR_LOGIN', 'ANSWER', 'CANCEL', 'COMPLETE', 'FAIL', 'REJECT'],
].map((type) => ({ type }));

const walked = await walk(a2aTaskMachine, { events: EVENTS });
const taken = walked.edges.filter((edge) => edge.taken.length > 0);

t.test('moves between states exactly as the protocol defines', async (t) => {
  t.same(untaken(walked.description, [walked]), []);
  const moves = new Set(taken.map(({ from, event, to }) => `${pathOf(from)} ${event.type} ${pathOf(to)}`));
  const answers = ['inputRequired', 'authRequired'].flatMap((from) => [
    `${from} ANSWER submitted`,
    `${from} START working`,
    `${from} CANCEL canceled`,
  ]);
  t.same(
    [...moves].sort(),
    [
      ...answers,
      'submitted START working',
      'submitted CANCEL canceled',
      'submitted FAIL failed',
      'working ASK_FOR_INPUT inputRequired',
      'working ASK_FOR_LOGIN authRequired',
      'working COMPLETE completed',
      'working FAIL failed',
      'working REJECT rejected',
      'working CANCEL canceled',
    ].sort(),
  );
});

t.test('maps states to names on the wire one to one', async (t) => {
  for (const state of TASK_STATES) {
    t.strictSame(
      TASK_STATES.filter((name) => taskAt(state).hasTag(name)),
      [state],
    );
  }
});

t.test('marks states without exit as terminal, and states that accept a reply as interrupted', async (t) => {
  for (const state of TASK_STATES) {
    const leads = EVENTS.filter(({ type }) => taskAt(state).can({ type: type as 'START' }));
    t.equal(isTerminal(state), leads.length === 0, state);
    t.equal(isTerminal(state), taskAt(state).status === 'done', state);
    t.equal(isInterrupted(state), mayTake(state, 'ANSWER'), state);
    t.equal(mayTake(state, 'CANCEL'), !isTerminal(state), state);
    t.equal(isTerminalOrInterrupted(state), isTerminal(state) || isInterrupted(state), state);
  }
});

t.test('maps each observed state to the event that leads to it', async (t) => {
  for (const { from, event, to } of taken) {
    const seen = TASK_STATES.find((state) => to.hasTag(state));
    if (seen && pathOf(from) !== pathOf(to))
      t.strictSame(updateEventOf(seen), event, `${pathOf(from)} to ${pathOf(to)}`);
  }
});
