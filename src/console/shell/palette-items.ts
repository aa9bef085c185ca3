import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { list, object, optional, text } from '../data/guard.ts';
import { readResource, useResource } from '../data/queries.ts';
import { NamedRecord, type Namespace, recordsOf } from '../data/records.ts';
import { redactText } from '../data/redact-text.ts';
import { capabilities } from '../data/resources.ts';
import { askForToken } from '../data/session.ts';
import type { IconName } from '../design/Icon.tsx';
import feedbackTexts from '../feedback/texts.json' with { type: 'json' };
import { toast } from '../feedback/toasts.ts';
import type { Entity } from '../feedback/use-write.ts';
import { chooseGuide } from '../getting-started/choice.ts';
import { locale, type Say, say, setLocale, useTexts } from '../i18n/locale.ts';
import { entryHref } from '../navigation/entry-paths.ts';
import { useGo } from '../navigation/links.tsx';
import { isScreen } from '../navigation/screen-paths.ts';
import { undecidedIn, waitingRunsSlowly } from '../run-records/waiting.ts';
import { isTypedId, type PaletteItem } from './palette-search.ts';
import type { Screen, ShellText } from './screen.ts';
import shellTexts from './texts.json' with { type: 'json' };
import { cycleTheme } from './theme.ts';

/** Items of the palette: screens, entries with their verbs, recent threads and runs, and actions of the shell. */

type Go = (href: string) => void;

type Named = { namespace: Namespace; id: string; keywords?: string };

const KINDS: Readonly<Record<Namespace, readonly [icon: IconName, Entity]>> = {
  agents: ['agents', 'entity.agent'],
  models: ['models', 'entity.model'],
  'model-pools': ['pools', 'entity.modelPool'],
  providers: ['providers', 'entity.provider'],
  'mcp-servers': ['mcp', 'entity.mcpServer'],
  'a2a-servers': ['a2a', 'entity.a2aServer'],
  skills: ['skills', 'entity.skill'],
  tools: ['tools', 'entity.tool'],
  budgets: ['budgets', 'entity.budget'],
};

/** Namespaces that are read as lists; tools are in the capabilities. */
const LISTED = (Object.keys(KINDS) as Namespace[]).filter((namespace) => namespace !== 'tools');

/** Reads the entries that can be offered; failed reads are left out. */
const readEntries = async (): Promise<Named[]> => {
  if (!isScreen('/agents')) return [];
  const lists = LISTED.map(async (namespace): Promise<Named[]> => {
    const records = await readResource(recordsOf(namespace, NamedRecord));
    return records.map(({ id }) => ({ namespace, id }));
  });
  const tools = async (): Promise<Named[]> => {
    const known = await readResource(capabilities);
    return known.tools.map(({ id, name }) => ({ namespace: 'tools', id, keywords: `${name} try` }));
  };
  const settled = await Promise.allSettled([...lists, tools()]);
  return settled.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
};

const testProvider = async (id: string, t: Say<ShellText>): Promise<void> => {
  const { runTest } = await import('../screens/providers/tests.ts');
  const { ok, error } = await runTest(id);
  if (ok) toast('success', t('palette.tested', { id }));
  else toast('error', t('palette.testFailed', { id, reason: error ?? '' }));
};

/** The screen of an entry, and what can be done with it directly. */
const entryItems = (t: Say<ShellText>, { namespace, id, keywords = '' }: Named): PaletteItem[] => {
  const [icon, entity] = KINDS[namespace];
  const item = { id: entryHref(namespace, id), label: id, hint: say(feedbackTexts, entity), icon, keywords };
  const verb = (label: ShellText, href: string, own: Partial<PaletteItem>): PaletteItem => ({
    ...{ id: href, label: t(label, { id }), section: 'actions', isVerb: true },
    ...own,
  });
  const path = encodeURIComponent(id);
  const verbs: Partial<Record<Namespace, PaletteItem[]>> = {
    agents: [
      verb('palette.chat', `/playground?agent=${path}`, { icon: 'playground' }),
      verb('palette.runsOf', `/runs?agent=${path}`, { icon: 'runs' }),
    ],
    providers: [
      verb('palette.test', `test:${id}`, { icon: 'diagnostics', run: () => void testProvider(id, t) }),
    ],
  };
  return [{ ...item, section: 'items' }, ...(verbs[namespace] ?? [])];
};

const NEW: readonly (readonly [href: string, Namespace])[] = [
  ['/agents/new', 'agents'],
  ['/skills/new', 'skills'],
  ['/mcp-servers?new=1', 'mcp-servers'],
  ['/a2a-servers?new=1', 'a2a-servers'],
  ['/providers?new=1', 'providers'],
  ['/models?new=1', 'models'],
  ['/model-pools?new=1', 'model-pools'],
  ['/budgets?new=1', 'budgets'],
];

/** In the middle of a sentence: `MCP server`, but `agent`. */
const uncapitalized = (word: string): string =>
  /^[A-Z][a-z]/.test(word) ? word.charAt(0).toLowerCase() + word.slice(1) : word;

const shellItems = (t: Say<ShellText>, go: Go, onHelp: () => void): PaletteItem[] => {
  const action = (id: string, label: ShellText, icon: IconName, run: () => void, keys?: string) =>
    ({ id, label: t(label), icon, section: 'actions', run, keys }) satisfies PaletteItem;
  return [
    ...NEW.map(([href, namespace]): PaletteItem => {
      const [, entity] = KINDS[namespace];
      const what = uncapitalized(say(feedbackTexts, entity));
      const isVerb = namespace !== 'agents';
      return { id: href, label: t('palette.new', { what }), icon: 'plus', section: 'actions', isVerb };
    }),
    ...(isScreen('/providers')
      ? [action('connect', 'palette.connect', 'key', () => go('/providers?connect=1'))]
      : []),
    action('theme', 'palette.theme', 'sun', cycleTheme),
    action('language', 'palette.language', 'language', () =>
      setLocale(locale.get() === 'en' ? 'zh-CN' : 'en'),
    ),
    action('token', 'token.set', 'lock', () => void askForToken('asked')),
    action('help', 'keys.title', 'keyboard', onHelp, '?'),
    action('guide', 'help.guide', 'help', () => {
      chooseGuide('shown');
      go('/');
    }),
  ];
};

const pageItems = (screens: readonly Screen[], t: Say<ShellText>): PaletteItem[] =>
  screens.flatMap(({ path, label, nav }) =>
    nav
      ? {
          id: path,
          label: t(label),
          icon: nav.icon,
          keywords: path,
          keys: nav.key && `g ${nav.key}`,
          section: 'pages' as const,
        }
      : [],
  );

const idItems = (typed: string, t: Say<ShellText>): PaletteItem[] => {
  const id = typed.trim();
  if (!isTypedId(id)) return [];
  const path = encodeURIComponent(id);
  const places: readonly [ShellText, IconName, string][] = [
    ['palette.openRun', 'runs', `/runs/${path}`],
    ['palette.openThread', 'threads', `/threads/${path}`],
    ['palette.openTrace', 'traces', `/traces?run=${path}`],
  ];
  return places.map(([label, icon, href]) => ({ id: href, icon, label: t(label, { id }), section: 'ids' }));
};

const words = { title: optional(text), preview: optional(text) };
const Threads = object({ items: list(object({ id: text, agent_id: optional(text), ...words })) });
const Runs = object({ items: list(object({ run_id: text, agent_id: text, status: text, ...words })) });

const MOST_FOUND = 8;

/** Threads and runs with these words, the latest first; without words, the latest threads. */
const useConversations = (q: string | undefined): PaletteItem[] => {
  const query = { preview: true, limit: MOST_FOUND, q };
  const threads = useResource({ path: '/v1/threads/summaries', query, guard: Threads }).data;
  const newest = { path: '/v1/runs', query: { ...query, sort: '-created' }, guard: Runs };
  const runs = useResource(newest, q !== undefined).data;
  return useMemo(() => {
    const item = (href: string, { title, preview }: { title?: string; preview?: string }, id: string) => ({
      id: href + encodeURIComponent(id),
      label: redactText(title ?? preview ?? id),
    });
    return [
      ...(threads?.items ?? []).map((thread): PaletteItem => {
        const hint = thread.agent_id ?? '';
        return { ...item('/threads/', thread, thread.id), hint, icon: 'threads', section: 'threads' };
      }),
      ...(runs?.items ?? []).map((run): PaletteItem => {
        const hint = `${run.agent_id} · ${run.status}`;
        return { ...item('/runs/', run, run.run_id), hint, icon: 'runs', section: 'runs' };
      }),
    ];
  }, [threads, runs]);
};

const PAUSE_MS = 200;

/** The typed words once typing pauses; undefined for too few letters. */
const useWords = (typed: string): string | undefined => {
  const [told, tell] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => tell(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return told === typed && typed.trim().length > 1 ? typed.trim() : undefined;
};

/** The most urgent action, if there is one. */
const useWaiting = (t: Say<ShellText>, go: Go): PaletteItem[] => {
  const { data } = useResource(waitingRunsSlowly, isScreen('/inbox'));
  const count = data ? undecidedIn(data) : 0;
  if (count === 0) return [];
  const label = t('palette.approve', { count });
  return [{ id: 'approve', label, icon: 'check', keys: 'g i', section: 'actions', run: () => go('/inbox') }];
};

export const usePaletteItems = (
  screens: readonly Screen[],
  query: string,
  onHelp: () => void,
): PaletteItem[] => {
  const t = useTexts(shellTexts);
  const go = useGo();
  const { data: entries } = useQuery({ queryKey: ['palette'], queryFn: readEntries, staleTime: 30_000 });
  const conversations = useConversations(useWords(query));
  const fixed = useMemo(
    () => [...shellItems(t, go, onHelp), ...pageItems(screens, t)],
    [t, go, onHelp, screens],
  );
  const ofEntries = useMemo(() => (entries ?? []).flatMap((entry) => entryItems(t, entry)), [entries, t]);
  const all = [...idItems(query, t), ...useWaiting(t, go), ...fixed, ...ofEntries, ...conversations];
  return all.filter(({ id, run }) => run !== undefined || isScreen(id));
};
