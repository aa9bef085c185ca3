import t from 'tap';
import { undecidedIn } from '../../src/console/run-records/waiting.ts';
import { changeNews, evalNews, mcpNews, waitingNews } from '../../src/console/shell/news.ts';

/** Notifications about changes on other screens. */

const states = (one: string, other = 'ready') => ({
  items: [
    { id: 'mcp-connection:files', state: one },
    { id: 'mcp-connection:mail', state: other },
  ],
});

t.test('notifies once when an MCP server is abandoned and when it recovers', async (t) => {
  const lost = [{ text: 'bell.gaveUp', values: { server: 'files' }, href: '/mcp-servers/files' }];
  t.match(mcpNews(states('ready.serving'), states('givenUp')), lost);
  t.strictSame(mcpNews(states('givenUp'), states('givenUp')), []);
  t.match(mcpNews(states('givenUp'), states('ready.serving')), [{ text: 'bell.recovered' }]);
  t.strictSame(
    mcpNews(states('reconnecting'), states('ready.serving')),
    [],
    'a recovery without a reported failure is not reported',
  );
  t.match(mcpNews({ items: [] }, states('givenUp')), lost, 'a server that was added later is reported');
  t.equal(mcpNews(states('ready', 'ready'), states('givenUp', 'givenUp')).length, 2);
});

t.test('notifies about an eval run once it has ended', async (t) => {
  const run = (id: string, ended_at_secs?: number, passed_count = 2) => ({
    ...{ id, dataset_id: 'd', ended_at_secs, item_count: 2, passed_count },
  });
  const idsOf = (before: ReturnType<typeof run>[], now: ReturnType<typeof run>[]) =>
    evalNews({ runs: before }, { runs: now }).map(({ href }) => href);
  t.strictSame(idsOf([], [run('a', 1), run('b')]), ['/eval-runs/a']);
  t.strictSame(idsOf([run('a', 1), run('b')], [run('a', 1), run('b', 2)]), ['/eval-runs/b']);
  t.match(evalNews({ runs: [] }, { runs: [run('a', 1, 1)] }), [{ text: 'bell.evalFailed' }]);
});

t.test('counts only runs that wait for a decision', async (t) => {
  const run = (tickets: object[]) => ({ waiting: { reason: 'any', tickets } }) as never;
  const waiting = { items: [run([{}]), run([]), run([{}, {}])], total: 3 };
  t.equal(undecidedIn(waiting), 2);
  t.equal(undecidedIn({ ...waiting, total: 10 }), 9, 'runs that are not loaded are counted');
  t.strictSame(waitingNews({ items: [], total: 0 }, { items: [run([])], total: 1 }), []);
});

t.test('notifies about more decisions, and about changes by others', async (t) => {
  const waiting = (count: number) => ({
    items: Array.from({ length: count }, () => ({ waiting: { tickets: [{}] } }) as never),
    total: count,
  });
  t.match(waitingNews(waiting(1), waiting(3)), [{ values: { count: 3 }, href: '/inbox' }]);
  t.strictSame(waitingNews(waiting(3), waiting(1)), []);
  const line = (id: string, actor: string) => ({ id, actor, resource: 'agents/a' });
  const before = { items: [line('2', 'abcd')] };
  const now = {
    items: [line('5', 'abcd/me'), line('4', 'ffff0000aa/bob'), line('3', 'eeee1111bb'), line('2', 'abcd')],
  };
  t.match(changeNews(before, now, 'abcd'), [{ values: { actor: 'eeee1111' } }, { values: { actor: 'bob' } }]);
  t.equal(changeNews(before, now, undefined).length, 3);
});
