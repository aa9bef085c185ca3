import t from 'tap';
import { crumbsOf, screenAt } from '../../src/console/shell/crumbs.ts';
import { effectOf, type Key } from '../../src/console/shell/keys.ts';
import { isTypedId, type PaletteItem, search } from '../../src/console/shell/palette-search.ts';
import type { Screen } from '../../src/console/shell/screen.ts';
import { isScreen, setScreenPaths } from '../../src/console/shell/screen-paths.ts';

/** What is around the screens, as far as it needs no page. */

const load = () => Promise.reject(new Error('not here'));
const SCREENS: Screen[] = [
  { path: '/', label: 'nav.dashboard', nav: { group: 'observe', icon: 'dashboard' }, load },
  { path: '/agents', label: 'nav.agents', nav: { group: 'agents', icon: 'agents', key: 'a' }, load },
  { path: '/agents/new', label: 'nav.new', under: '/agents', load },
  { path: '/agents/$id', label: 'nav.agents', under: '/agents', load },
  { path: '/agents/$id/dashboard', label: 'nav.stats', under: '/agents', load },
];

t.test('an address has the screen that says it most exactly', async (t) => {
  t.equal(screenAt('/agents/new', SCREENS)?.path, '/agents/new');
  t.equal(screenAt('/agents/newer', SCREENS)?.path, '/agents/$id');
  t.equal(screenAt('/', SCREENS)?.path, '/');
  t.equal(screenAt('/nowhere', SCREENS), undefined);
});

t.test('a breadcrumb says where one is, and nothing twice', async (t) => {
  t.strictSame(crumbsOf('/', SCREENS), [{ label: 'group.observe' }, { label: 'nav.dashboard' }]);
  t.strictSame(crumbsOf('/agents', SCREENS), [{ label: 'nav.agents' }]);
  t.strictSame(crumbsOf('/agents/a%2Fb', SCREENS), [
    { label: 'nav.agents', href: '/agents' },
    { text: 'a/b' },
  ]);
  t.strictSame(crumbsOf('/agents/x/dashboard', SCREENS).at(-1), { label: 'nav.stats' });
  t.strictSame(crumbsOf('/agents/%', SCREENS).at(-1), { text: '%' });
});

t.test('only what is registered can be gone to', async (t) => {
  setScreenPaths(SCREENS.map(({ path }) => path));
  t.ok(isScreen('/agents/some.thing-1?tab=x'));
  t.ok(isScreen('/'));
  t.notOk(isScreen('/models?edit=x'));
  t.notOk(isScreen('/agents/a/b'));
  t.notOk(isScreen(''));
});

const ITEMS: PaletteItem[] = [
  { id: '/agents', label: 'Agents', section: 'pages' },
  { id: '/audit-log', label: 'Audit Log', keywords: 'changes', section: 'pages' },
  { id: '/agents/my-agent', label: 'my-agent', hint: 'Agents', section: 'items' },
  { id: '/agents/agent', label: 'agent', hint: 'Agents', section: 'items' },
  { id: 'theme', label: 'Change theme', section: 'actions' },
];
const found = (query: string, recent: string[] = []) => search(ITEMS, query, recent).map(({ id }) => id);

t.test('the palette finds all words, the best first', async (t) => {
  t.strictSame(found('agent'), ['/agents/agent', '/agents', '/agents/my-agent']);
  t.strictSame(found('log AUD'), ['/audit-log']);
  t.strictSame(found('change'), ['theme', '/audit-log'], 'a label before a keyword');
  t.strictSame(found('zzz'), []);
  t.strictSame(found('', ['theme', '/agents/my-agent', 'gone']), [
    'theme',
    '/agents/my-agent',
    '/agents',
    '/audit-log',
  ]);
  t.equal(
    search(
      Array.from({ length: 99 }, (_, i) => ({ ...ITEMS[0], id: `${i}` }) as PaletteItem),
      'agents',
      [],
    ).length,
    50,
  );
});

t.test('what is typed may be an id', async (t) => {
  t.ok(isTypedId('019a4b7e-3c1d-7f00-8000-1234567890ab'));
  t.ok(isTypedId('run_1'));
  t.ok(isTypedId('01M84M5AFKWW09F6HMX0MV78S5'));
  t.notOk(isTypedId('running'));
});

t.test('keys mean something where nobody types, apart from those with Ctrl', async (t) => {
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
  t.equal(effectOf(pressed('a', { mod: true }), true, places), undefined, 'selects everything');
});
