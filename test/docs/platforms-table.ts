import { keysOf, tableOf } from './fields.ts';

/** The table of Node lines, systems and HTTP servers on which the program was tested. */

/** The supported lines of Node, as in `engines` of package.json. */
export const NODE_LINES = [20, 22, 24, 26] as const;

/** The first supported release of each line. */
export const FIRST_RELEASES: Readonly<Record<NodeLine, string>> = {
  20: '20.19',
  22: '22.12',
  24: '24.0',
  26: '26.0',
};

export type NodeLine = (typeof NODE_LINES)[number];

export const SYSTEMS = {
  'debian-12': 'Debian 12 (glibc 2.36)',
  'debian-13': 'Debian 13 (glibc 2.41)',
  musl: 'Linux with musl, such as Alpine',
  macos: 'macOS',
  windows: 'Windows',
} as const;

export type System = keyof typeof SYSTEMS;

export const HTTP_SERVERS = { uws: 'uWebSockets.js', node: '`node:http`' } as const;

export type HttpServer = keyof typeof HTTP_SERVERS;

export const NOT_RUN = 'not run';

export const FAILS = 'fails';

/** A cell is the version of Node that worked, or the reason for a failure. */
export const CELL = /^(works: \d+\.\d+\.\d+|needs glibc( \d+\.\d+)?|no binary|fails|not run)$/;

export type CellOf = (system: System, server: HttpServer, line: NodeLine) => string;

/** @param date the day of the runs, as YYYY-MM-DD */
export const platformsMarkdown = (date: string, cellOf: CellOf): string => {
  const head = ['System', 'HTTP server', ...NODE_LINES.map((line) => `Node ${line}`)];
  const rows = keysOf(SYSTEMS).flatMap((system) =>
    keysOf(HTTP_SERVERS).map((server) => [
      SYSTEMS[system],
      HTTP_SERVERS[server],
      ...NODE_LINES.map((line) => cellOf(system, server, line)),
    ]),
  );
  return [`Run on x64 on ${date} by \`npm run platforms\`:`, '', tableOf(head, rows)].join('\n');
};
