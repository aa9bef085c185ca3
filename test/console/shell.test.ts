import t from 'tap';
import { isScreen, setScreenPaths } from '../../src/console/navigation/screen-paths.ts';
import { crumbsOf, screenAt } from '../../src/console/shell/crumbs.ts';
import { effectOf, type Key } from '../../src/console/shell/keys.ts';
import { isTypedId, type PaletteItem, search } from '../../src/console/shell/palette-search.ts';
import type { Screen } from '../../src/console/shell/screen.ts';

/** The parts of the shell that need no page. */

const load = () => Promise.reject(new Error('not here'));
const SCREENS: Screen[] = [
  { path: '/', label: 'nav.dashboard', nav: { group: 'home', icon: 'dashboard' }, load },
  { path: '/agents', label: 'nav.agents', nav: { group: 'build', icon: 'agents', key: 'a' }, load },
  { path: '/models', label: 'nav.models', nav: { group: 'models', icon: 'models' }, load },
  { path: '/agents/new', label: 'nav.new', under: '/agents', load },
  { path: '/agents/$id', label: 'nav.agents', under: '/agents', load },
  { path: '/agents/$id/dashboard', label: 'nav.stats', under: '/agents', load },
];

t.test('selects the most specific screen for an address', async (t) => {
  t.equal(screenAt('/agents/new', SCREENS)?.path, '/agents/new');
  t.equal(screenAt('/agents/newer', SCREENS)?.path, '/agents/$id');
  t.equal(screenAt('/', SCREENS)?.path, '/');
  t.equal(screenAt('/nowhere', SCREENS), undefined);
});

t.test('builds breadcrumbs without repetition', async (t) => {
  t.strictSame(crumbsOf('/', SCREENS), [{ label: 'nav.dashboard' }]);
  t.strictSame(crumbsOf('/models', SCREENS), [{ label: 'nav.models' }]);
  t.strictSame(crumbsOf('/agents', SCREENS), [{ label: 'group.build' }, { label: 'nav.agents' }]);
  t.strictSame(crumbsOf('/agents/a%2Fb', SCREENS), [
    { label: 'group.build' },
    { label: 'nav.agents', href: '/agents' },
    { text: 'a/b' },
  ]);
  t.strictSame(crumbsOf('/agents/x/dashboard', SCREENS).at(-1), { label: 'nav.stats' });
  t.strictSame(crumbsOf('/agents/%', SCREENS).at(-1), { text: '%' });
});

t.test('limits navigation to registered screens', async (t) => {
  setScreenPaths(SCREENS.map(({ path }) => path));
  t.ok(isScreen('/agents/some.thing-1?tab=x'));
  t.ok(isScreen('/'));
  t.ok(isScreen('/models?edit=x'));
  t.notOk(isScreen('/providers?edit=x'));
  t.notOk(isScreen('/agents/a/b'));
  t.notOk(isScreen(''));
});

const ITEMS: PaletteItem[] = [
  { id: '/agents', label: 'Agents', section: 'pages' },
  { id: '/audit-log', label: 'Audit Log', keywords: 'changes', section: 'pages' },
  { id: '/agents/my-agent', label: 'my-agent', hint: 'Agents', section: 'items' },
  { id: '/agents/agent', label: 'agent', hint: 'Agents', section: 'items' },
  { id: 'theme', label: 'Change theme', section: 'actions' },
  { id: '/playground?agent=my-agent', label: 'Chat with my-agent', section: 'actions', isVerb: true },
];
const found = (query: string, recent: string[] = []) => search(ITEMS, query, recent).map(({ id }) => id);

t.test('ranks palette results that contain all words', async (t) => {
  t.strictSame(
    found('agent'),
    ['/agents/agent', '/agents/my-agent', '/agents', '/playground?agent=my-agent'],
    'sections stay together',
  );
  t.strictSame(found('log AUD'), ['/audit-log']);
  t.strictSame(found('change'), ['theme', '/audit-log'], 'matching labels are before matching keywords');
  t.strictSame(found('zzz'), []);
  t.strictSame(found('', ['theme', '/agents/my-agent', 'gone']), [
    'theme',
    '/agents/my-agent',
    '/agents',
    '/audit-log',
  ]);
  t.strictSame(found('chat'), ['/playground?agent=my-agent']);
  const many = Array.from(
    { length: 20 },
    (_, i): PaletteItem => ({ id: `t${i}`, label: 'log', section: 'threads' }),
  );
  t.equal(search([...ITEMS, ...many], 'log', []).length, 9, 'no section hides the others');
  t.equal(
    search(
      Array.from({ length: 99 }, (_, i) => ({ ...ITEMS[0], id: `${i}` }) as PaletteItem),
      'agents',
      [],
    ).length,
    50,
  );
});

t.test('recognizes typed ids', async (t) => {
  t.ok(isTypedId('019a4b7e-3c1d-7f00-8000-1234567890ab'));
  t.ok(isTypedId('run_1'));
  t.ok(isTypedId('01M84M5AFKWW09F6HMX0MV78S5'));
  t.notOk(isTypedId('running'));
});

t.test('ignores shortcuts without Ctrl while the user types', async (t) => {
  const pressed = (key: string, more: Partial<Key> = {}): Key => ({
    key,
    mod: false,
    shift: false,
    alt: false,
    typing: false,
    ...more,
  });
  const places = { a: '/agents' };
  t.strictSame(effectOf(pressed('k', { mod: true, typing: true }), false, places), { do: 'palette' });
  t.strictSame(effectOf(pressed('g'), false, places), { do: 'prefix' });
  t.strictSame(effectOf(pressed('a'), true, places), { do: 'go', path: '/agents' });
  t.equal(effectOf(pressed('j'), true, places), undefined);
  t.equal(effectOf(pressed('g', { typing: true }), false, places), undefined);
  t.strictSame(effectOf(pressed('?', { shift: true }), false, places), { do: 'help' });
  t.strictSame(effectOf(pressed('k'), false, places), { do: 'row', by: -1 });
  t.equal(effectOf(pressed('a', { mod: true }), true, places), undefined, 'Ctrl+A keeps its function');
});
