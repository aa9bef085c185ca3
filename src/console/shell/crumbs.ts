import type { Group, Screen, ShellText } from './screen.ts';

/** Breadcrumbs of an address: its group, its screen and its ids. */
export type Crumb = { label?: ShellText; text?: string; href?: string };

const segmentsOf = (path: string): string[] => path.split('/').filter(Boolean);

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

/** The screen of an address. Literal segments take precedence over parameters. */
export const screenAt = (path: string, screens: readonly Screen[]): Screen | undefined => {
  const segments = segmentsOf(path);
  const fits = screens.filter((screen) => {
    const own = segmentsOf(screen.path);
    return (
      own.length === segments.length && own.every((part, i) => part.startsWith('$') || part === segments[i])
    );
  });
  const anys = (screen: Screen): number => screen.path.split('$').length;
  return fits.sort((a, b) => anys(a) - anys(b))[0];
};

export const crumbsOf = (path: string, screens: readonly Screen[]): Crumb[] => {
  const here = screenAt(path, screens);
  if (!here) return [];
  const parent = here.under === undefined ? undefined : screens.find((screen) => screen.path === here.under);
  const group: Group | undefined = (here.nav ?? parent?.nav)?.group;
  const ids = segmentsOf(here.path).flatMap((part, index) =>
    part.startsWith('$') ? [decoded(segmentsOf(path)[index] ?? '')] : [],
  );
  const crumbs: Crumb[] = [];
  if (group && group !== 'home') crumbs.push({ label: `group.${group}` });
  if (parent) crumbs.push({ label: parent.label, href: parent.path });
  for (const text of ids) crumbs.push({ text });
  // A screen whose path ends with a parameter is named by its id; parts of it have a label.
  if (ids.length === 0 || !here.path.endsWith(`$${lastName(here.path)}`)) crumbs.push({ label: here.label });
  return crumbs.filter((crumb, index) => crumb.label === undefined || !repeats(crumbs, index, crumb.label));
};

const lastName = (path: string): string => segmentsOf(path).at(-1)?.replace(/^\$/, '') ?? '';

/** Avoids `Models / Models`. */
const repeats = (crumbs: readonly Crumb[], index: number, label: ShellText): boolean =>
  label.startsWith('group.') && crumbs[index + 1]?.label === label.replace('group.', 'nav.');
