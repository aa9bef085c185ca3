import { readResource } from '../data/queries.ts';
import { NamedRecord, type Namespace, recordsOf } from '../data/records.ts';
import { capabilities } from '../data/resources.ts';
import type { Say } from '../i18n/locale.ts';
import { isTypedId, type PaletteItem } from './palette-search.ts';
import type { Screen, ShellText } from './screen.ts';
import { isScreen } from './screen-paths.ts';

/** What can be gone to. Nothing is offered for which there is no screen. */

const NAMESPACES: readonly [Namespace, ShellText, (id: string) => string][] = [
  ['agents', 'nav.agents', (id) => `/agents/${encodeURIComponent(id)}`],
  ['models', 'nav.models', (id) => `/models?edit=${encodeURIComponent(id)}`],
  ['model-pools', 'nav.modelPools', (id) => `/model-pools?edit=${encodeURIComponent(id)}`],
  ['providers', 'nav.providers', (id) => `/providers?edit=${encodeURIComponent(id)}`],
  ['mcp-servers', 'nav.mcpServers', (id) => `/mcp-servers/${encodeURIComponent(id)}`],
  ['a2a-servers', 'nav.a2aServers', (id) => `/a2a-servers?q=${encodeURIComponent(id)}`],
  ['skills', 'nav.skills', (id) => `/skills/${encodeURIComponent(id)}`],
];

/** Whatever can be read; what cannot is left out. */
export const readItems = async (t: Say<ShellText>): Promise<PaletteItem[]> => {
  const lists = NAMESPACES.filter(([, , href]) => isScreen(href('x'))).map(
    async ([namespace, label, href]) => {
      const records = await readResource(recordsOf(namespace, NamedRecord));
      return records.map(
        ({ id }): PaletteItem => ({ id: href(id), label: id, hint: t(label), section: 'items' }),
      );
    },
  );
  const tools = async (): Promise<PaletteItem[]> => {
    if (!isScreen('/tools/x')) return [];
    const known = await readResource(capabilities);
    return known.tools.map(({ id, name }) => ({
      id: `/tools/${encodeURIComponent(id)}`,
      label: id,
      keywords: name,
      hint: t('nav.tools'),
      section: 'items',
    }));
  };
  const settled = await Promise.allSettled([...lists, tools()]);
  return settled.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
};

export const pageItems = (screens: readonly Screen[], t: Say<ShellText>): PaletteItem[] =>
  screens
    .filter(({ path }) => !path.includes('$'))
    .map((screen) => ({
      id: screen.path,
      label: t(screen.label),
      hint: screen.nav ? t(`group.${screen.nav.group}`) : '',
      keywords: screen.path,
      section: 'pages',
    }));

export const idItems = (typed: string, t: Say<ShellText>): PaletteItem[] => {
  const id = typed.trim();
  if (!isTypedId(id)) return [];
  const places: [ShellText, string][] = [
    ['palette.openRun', `/runs/${encodeURIComponent(id)}`],
    ['palette.openThread', `/threads/${encodeURIComponent(id)}`],
    ['palette.openTrace', `/traces?run=${encodeURIComponent(id)}`],
  ];
  return places
    .filter(([, href]) => isScreen(href))
    .map(([label, href]) => ({ id: href, label: t(label, { id }), section: 'ids' }));
};
