import fc from 'fast-check';
import t from 'tap';
import '../random.ts';
import {
  type Answer,
  FIRST_STATE,
  MOST_TRIES,
  type Outcome,
  type SendResult,
  type SettleEvent,
  type SettleState,
  settle,
} from '../../src/postgres/settle.ts';

/** What became of a commit (cluster.md 5.6). */

const SENT: Record<string, SettleEvent> = Object.fromEntries(
  (
    ['returned', 'lost', 'unsent', 'contended', 'taken', 'fenced', 'behind', 'faulty', 'unwritable'] as const
  ).map((result) => [result, { type: 'sent', result }]),
);
const asked = (answer: Partial<Answer>): SettleEvent => ({
  type: 'asked',
  answer: { isGone: false, isHere: false, isBeforeHere: true, ...answer },
});
const EVENTS: Record<string, SettleEvent> = {
  ...SENT,
  unanswered: { type: 'unanswered' },
  'asked: here': asked({ isHere: true }),
  'asked: here, gone': asked({ isHere: true, isGone: true }),
  'asked: gone': asked({ isGone: true }),
  'asked: open': asked({}),
  'asked: behind': asked({ isBeforeHere: false }),
};

const walk = (...names: string[]): string => {
  let state: SettleState = FIRST_STATE;
  for (const name of names) {
    const event = EVENTS[name];
    if (!event) throw new Error(`no event ${name}`);
    state = settle(state, event);
  }
  return state.at === 'settled' ? `${state.outcome} ${state.numbers}` : state.at;
};

t.test('each row of the table', async (t) => {
  const rows: [string[], string][] = [
    [['returned'], 'applied 1'],
    [['lost'], 'asking'],
    [['unsent'], 'asking'],
    [['taken'], 'asking'],
    [['contended'], 'sending'],
    [Array(MOST_TRIES - 1).fill('contended'), 'sending'],
    [Array(MOST_TRIES).fill('contended'), 'asking'],
    [[...Array(MOST_TRIES).fill('contended'), 'asked: open', 'contended'], 'sending'],
    [['fenced'], 'fenced 0'],
    [['behind'], 'behind 0'],
    [['faulty'], 'faulty 0'],
    [['unwritable'], 'unwritable 0'],
    [['lost', 'unanswered'], 'asking'],
    [['lost', 'asked: here'], 'applied 1'],
    [['lost', 'asked: here, gone'], 'applied 1'],
    [['lost', 'asked: gone'], 'fenced 0'],
    [['lost', 'asked: behind'], 'behind 0'],
    [['lost', 'asked: open'], 'sending'],
    [['lost', 'asked: open', 'returned'], 'applied 1'],
  ];
  for (const [events, expected] of rows) t.equal(walk(...events), expected, events.join(', '));
});

t.test('a refusal settles nothing while a copy of the commit may arrive', async (t) => {
  const resent = ['lost', 'asked: open'];
  const rows: [string[], string][] = [
    [['fenced'], 'asking'],
    [['fenced', 'asked: here, gone'], 'applied 1'],
    [['fenced', 'asked: gone'], 'fenced 0'],
    [['behind'], 'asking'],
    [['unwritable'], 'voiding'],
    [['unwritable', 'returned'], 'unwritable 2'],
    [['unwritable', 'unwritable'], 'voiding'],
    [['unwritable', 'lost', 'asked: here'], 'unwritable 2'],
    [['unwritable', 'taken', 'asked: open'], 'applied 1'],
    [['faulty'], 'voiding'],
    [['faulty', 'returned'], 'faulty 2'],
    [['faulty', 'lost'], 'askingVoid'],
    [['faulty', 'unsent'], 'askingVoid'],
    [['faulty', 'contended'], 'voiding'],
    [['faulty', 'unwritable'], 'voiding'],
    [['faulty', 'faulty'], 'voiding'],
    [['faulty', 'behind'], 'behind 0'],
    [['faulty', 'fenced'], 'askingVoid'],
    [['faulty', 'fenced', 'asked: gone'], 'applied 1'],
    [['faulty', 'taken', 'unanswered'], 'askingVoid'],
    // The question is for the number behind: the void takes both, the commit only the one before.
    [['faulty', 'taken', 'asked: here'], 'faulty 2'],
    [['faulty', 'taken', 'asked: open'], 'applied 1'],
    [['faulty', 'lost', 'asked: behind'], 'voiding'],
  ];
  for (const [events, expected] of rows) t.equal(walk(...resent, ...events), expected, events.join(', '));
});

/** A database with one number of the chain, and statements that are on their way to it. */
class Model {
  holder: 'commit' | 'void' | undefined;
  isGone = false;
  isFaulty = false;
  readonly flying: ('commit' | 'void')[] = [];

  execute(what: 'commit' | 'void'): SendResult {
    if (this.isGone) return 'fenced';
    if (this.holder !== undefined) return 'taken';
    if (what === 'commit' && this.isFaulty) return 'faulty';
    this.holder = what;
    return 'returned';
  }

  ask(isVoid: boolean): SettleEvent {
    const isHere = isVoid ? this.holder === 'void' : this.holder !== undefined;
    return asked({ isGone: this.isGone, isHere, isBeforeHere: isVoid ? this.holder !== undefined : true });
  }
}

const CHANCES = ['answer', 'lose', 'delay', 'refuse', 'unsent', 'contend'] as const;
const turn = fc.record({
  chance: fc.constantFrom(...CHANCES),
  deliver: fc.boolean(),
  fence: fc.nat(20).map((number) => number === 0),
  isFaulty: fc.boolean(),
});
type Turn = typeof turn extends fc.Arbitrary<infer Value> ? Value : never;

const send = (model: Model, what: 'commit' | 'void', { chance }: Turn): SettleEvent => {
  if (chance === 'refuse') return { type: 'sent', result: 'unwritable' };
  if (chance === 'contend') return { type: 'sent', result: 'contended' };
  if (chance === 'unsent') return { type: 'sent', result: 'unsent' };
  if (chance === 'delay') model.flying.push(what);
  const result = chance === 'delay' ? 'lost' : model.execute(what);
  return { type: 'sent', result: chance === 'lose' ? 'lost' : result };
};

const step = (model: Model, state: SettleState, current: Turn): SettleState => {
  const what = state.at === 'voiding' ? 'void' : 'commit';
  if (state.at === 'sending' || state.at === 'voiding') return settle(state, send(model, what, current));
  if (current.chance === 'lose') return settle(state, { type: 'unanswered' });
  return settle(state, model.ask(state.at === 'askingVoid'));
};

t.test('reports what the database has, whatever is lost, late or refused', async (t) => {
  const seen = new Set<Outcome>();
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 40 }), (turns) => {
      const model = new Model();
      let state: SettleState = FIRST_STATE;
      for (const current of turns) {
        if (state.at === 'settled') break;
        model.isFaulty = current.isFaulty;
        if (current.fence) model.isGone = true;
        if (current.deliver) {
          const late = model.flying.shift();
          if (late) model.execute(late);
        }
        state = step(model, state, current);
      }
      if (state.at !== 'settled') return;
      seen.add(state.outcome);
      // Whatever is still on its way arrives when nothing else is in the way.
      model.isFaulty = false;
      for (const late of model.flying) model.execute(late);
      const holder = state.outcome === 'applied' ? 'commit' : state.numbers === 2 ? 'void' : undefined;
      if (model.holder !== holder) throw new Error(`${state.outcome}, and the database has ${model.holder}`);
    }),
    { numRuns: 5000 },
  );
  t.strictSame([...seen].sort(), ['applied', 'faulty', 'fenced', 'unwritable']);
});
