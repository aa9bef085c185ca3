import t from 'tap';
import { advance, IllegalTransition } from '../../machines/advance.ts';
import {
  isCancellable,
  isTerminalLeg,
  lastEventOf,
  legAt,
  RESPONSE_STATUSES,
  responseMachine,
  statusOf,
} from '../../machines/response.ts';
import { pathOf, untaken, walk } from './walk.ts';

/** openai-responses.md 7.3 and 12. */

const end = (type: string, more: object = {}) => ({ type: 'END', termination: { type, ...more } });

const EVENTS = [
  { type: 'START' },
  { type: 'PAUSE' },
  { type: 'CANCEL' },
  { type: 'RELEASE' },
  end('natural_end'),
  end('natural_end', { truncated: true }),
  end('behavior_requested'),
  end('stopped', { code: 'stop_on_tool' }),
  end('stopped', { code: 'max_rounds' }),
  end('blocked'),
  end('error'),
  end('cancelled'),
];

const walked = await walk(responseMachine, { events: EVENTS });
const taken = walked.edges.filter((edge) => edge.taken.length > 0);

t.test('moves between states exactly as the reference lists', async (t) => {
  t.same(untaken(walked.description, [walked]), []);
  const moves = new Set(
    taken.map(({ from, event, to }) => {
      const { termination } = event as { termination?: { type: string; code?: string; truncated?: boolean } };
      const how = termination && [termination.type, termination.code, termination.truncated && 'truncated'];
      const suffix = how ? ` ${how.filter(Boolean).join(' ')}` : '';
      return `${pathOf(from)} ${event.type}${suffix} ${pathOf(to)}`;
    }),
  );
  t.same(
    [...moves].sort(),
    [
      'queued START inProgress',
      'queued CANCEL cancelled',
      'queued END cancelled cancelled',
      'queued END natural_end failed',
      'queued END natural_end truncated failed',
      'queued END behavior_requested failed',
      'queued END stopped stop_on_tool failed',
      'queued END stopped max_rounds failed',
      'queued END blocked failed',
      'queued END error failed',
      'inProgress PAUSE completed',
      'inProgress RELEASE queued',
      'inProgress CANCEL cancelled',
      'inProgress END natural_end completed',
      'inProgress END behavior_requested completed',
      'inProgress END stopped stop_on_tool completed',
      'inProgress END stopped max_rounds incomplete',
      'inProgress END natural_end truncated incomplete',
      'inProgress END blocked incomplete',
      'inProgress END error failed',
      'inProgress END cancelled cancelled',
    ].sort(),
  );
});

t.test('maps states to statuses on the wire one to one', async (t) => {
  for (const status of RESPONSE_STATUSES) {
    const snapshot = responseMachine.resolveState(legAt(status));
    t.equal(statusOf(snapshot), status);
    t.equal(isTerminalLeg(status), snapshot.status === 'done', status);
    t.equal(isTerminalLeg(status), lastEventOf(status) !== undefined, status);
    t.equal(isCancellable(status), !isTerminalLeg(status), status);
  }
});

t.test('ends the stream of a cancelled leg as incomplete', async (t) => {
  t.equal(lastEventOf('cancelled'), 'response.incomplete');
  t.equal(lastEventOf('incomplete'), 'response.incomplete');
  t.equal(lastEventOf('completed'), 'response.completed');
  t.equal(lastEventOf('failed'), 'response.failed');
});

t.test('computes transitions of stored legs', async (t) => {
  t.equal(statusOf(advance(responseMachine, legAt('in_progress'), { type: 'PAUSE' })), 'completed');
  t.throws(() => advance(responseMachine, legAt('completed'), { type: 'CANCEL' }), IllegalTransition);
});
