import t from 'tap';
import {
  a2aTaskMachine,
  isAtRest,
  isInterrupted,
  isTerminal,
  mayTake,
  TASK_STATES,
  taskAt,
  toldOf,
} from '../../machines/a2a-task.ts';
import { pathOf, untaken, walk } from './walk.ts';

const EVENTS = [
  ...['START', 'ASK_FOR_INPUT', 'ASK_FOR_LOGIN', 'ANSWER', 'CANCEL', 'COMPLETE', 'FAIL', 'REJECT'],
].map((type) => ({ type }));

const walked = await walk(a2aTaskMachine, { events: EVENTS });
const taken = walked.edges.filter((edge) => edge.taken.length > 0);

t.test('a task goes from each state exactly where the protocol says', async (t) => {
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

t.test('each state has one name on the wire, and each name one state', async (t) => {
  for (const state of TASK_STATES) {
    t.strictSame(
      TASK_STATES.filter((name) => taskAt(state).hasTag(name)),
      [state],
    );
  }
});

t.test('terminal is where nothing leads out, interrupted where an answer does', async (t) => {
  for (const state of TASK_STATES) {
    const leads = EVENTS.filter(({ type }) => taskAt(state).can({ type: type as 'START' }));
    t.equal(isTerminal(state), leads.length === 0, state);
    t.equal(isTerminal(state), taskAt(state).status === 'done', state);
    t.equal(isInterrupted(state), mayTake(state, 'ANSWER'), state);
    t.equal(mayTake(state, 'CANCEL'), !isTerminal(state), state);
    t.equal(isAtRest(state), isTerminal(state) || isInterrupted(state), state);
  }
});

t.test('what a task was told leads to the state in which it is seen', async (t) => {
  for (const { from, event, to } of taken) {
    const seen = TASK_STATES.find((state) => to.hasTag(state));
    if (seen && pathOf(from) !== pathOf(to))
      t.strictSame(toldOf(seen), event, `${pathOf(from)} to ${pathOf(to)}`);
  }
});
