import t from 'tap';
import { createPausedRuns } from '../../src/composition/budgets.ts';
import { createLog } from '../../src/observability/log.ts';
import type { Run, WaitingTicket } from '../../src/schema/run.ts';

/** When runs that wait for budgets are looked for: identity.md 5.4. */

const tick = () => new Promise(setImmediate);

const start = () => {
  let loosened = (): void => {};
  const searches: (() => void)[] = [];
  const checked: string[] = [];
  const paused = createPausedRuns(
    {
      meter: {
        onLoosened(listener) {
          loosened = listener;
        },
      },
      log: createLog({ level: 'silent' }),
    },
    () => ({
      resumePaused: () => new Promise<void>((resolve) => searches.push(resolve)),
      async resumeIfRaised(_scope, { run_id }) {
        checked.push(run_id);
      },
    }),
  );
  return { paused, loosen: () => loosened(), searches, checked };
};

t.test('changes during a search lead to one further search', async (t) => {
  const { loosen, searches } = start();
  loosen();
  t.equal(searches.length, 0, 'the search starts in another event-loop tick');
  await tick();
  t.equal(searches.length, 1);
  loosen();
  loosen();
  await tick();
  t.equal(searches.length, 1);
  searches[0]?.();
  await tick();
  t.equal(searches.length, 2);
  searches[1]?.();
  await tick();
  t.equal(searches.length, 2);
  loosen();
  await tick();
  t.equal(searches.length, 3);
});

const runWith = (run_id: string, reason?: string): Run => {
  const ticket: WaitingTicket = {
    ...{ ticket_id: 'k', tool_call_id: 'k', tool_name: 'x', resume_mode: 'pass_decision_to_tool' },
    updated_at: 0,
    ...(reason !== undefined && { reason }),
  };
  return {
    ...{ run_id, thread_id: 't', agent_id: 'a', parent_run_id: null, status: 'waiting', state: null },
    ...{ created_at: 0, updated_at: 0, steps: 0, input_tokens: 0, output_tokens: 0 },
    waiting: { reason: 'manual_pause', tickets: [ticket] },
  };
};

t.test('a stored wait for a budget is checked at once, and no other wait', async (t) => {
  const { paused, checked } = start();
  paused.stored('default', runWith('one', 'budget:exceeded'));
  paused.stored('default', runWith('two', 'mcp:auth_required'));
  paused.stored('default', runWith('three'));
  t.strictSame(checked, ['one']);
});
