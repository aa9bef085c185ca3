import t from 'tap';
import { evalNews, mcpNews } from '../../src/console/shell/notifications.ts';

/** What a user is told of while looking at something else. */

const states = (one: string, other = 'ready'): Map<string, string> =>
  new Map([
    ['mcp-connection:files', one],
    ['mcp-connection:mail', other],
  ]);

t.test('a connection that is given up is told once, and so is that it is back', async (t) => {
  t.strictSame(mcpNews(undefined, states('givenUp')), [], 'as it was when the page was opened');
  t.strictSame(mcpNews(states('ready.serving'), states('givenUp')), [{ server: 'files', hasGivenUp: true }]);
  t.strictSame(mcpNews(states('givenUp'), states('givenUp')), []);
  t.strictSame(mcpNews(states('givenUp'), states('ready.serving')), [{ server: 'files', hasGivenUp: false }]);
  t.strictSame(
    mcpNews(states('reconnecting'), states('ready.serving')),
    [],
    'nobody was told that it was gone',
  );
  t.strictSame(mcpNews(new Map(), states('givenUp')), [{ server: 'files', hasGivenUp: true }], 'a new one');
  t.strictSame(mcpNews(states('ready', 'ready'), states('givenUp', 'givenUp')).length, 2);
});

t.test('an evaluation is told of when it has ended', async (t) => {
  const ended = { id: 'a', ended_at_secs: 1 };
  const goesOn = { id: 'b' };
  t.strictSame(evalNews(undefined, [ended]), []);
  t.strictSame(evalNews(new Set(), [ended, goesOn]), [ended]);
  t.strictSame(evalNews(new Set(['a']), [ended, { ...goesOn, ended_at_secs: 2 }]), [
    { id: 'b', ended_at_secs: 2 },
  ]);
});
