/** The icon set: 16 px with a 1.5 px stroke. Icons are decorative, so each needs a text or a label next to it. */

const PATHS = {
  agents: 'M8 2v2M3 6.5h10v6H3zM6 9.2v.6M10 9.2v.6M1.5 8.5v2M14.5 8.5v2',
  a2a: 'M2 5h9L8.5 2.5M14 11H5l2.5 2.5',
  mcp: 'M6 2v4M10 2v4M4 6h8v2a4 4 0 0 1-8 0zM8 12v2',
  skills: 'M8 2l1.8 3.9 4.2.5-3.1 2.9.8 4.2L8 11.4l-3.7 2.1.8-4.2L2 6.4l4.2-.5z',
  tools:
    'M9.8 6.2a3.2 3.2 0 0 1 3.9-4.1L11.6 4.2l.3 1.8 1.8.3 2-2.1M10 6.5L3.2 13.3a1.2 1.2 0 0 1-1.7-1.7L8.3 4.8',
  providers: 'M4.5 12.5a3 3 0 0 1-.4-6 4.2 4.2 0 0 1 8-.6 3.3 3.3 0 0 1-.6 6.6z',
  models: 'M8 1.8l5.5 3.1v6.2L8 14.2l-5.5-3.1V4.9zM2.5 4.9L8 8l5.5-3.1M8 8v6.2',
  pools: 'M8 2l6 3-6 3-6-3zM2 8l6 3 6-3M2 11l6 3 6-3',
  budgets: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 8V2M8 8l4.2 4.2',
  inbox: 'M2 9l2-6h8l2 6v4H2zM2 9h3.5l1 2h3l1-2H14',
  runs: 'M5 3l8 5-8 5z',
  threads: 'M2.5 3h11v8h-6l-3 2.5V11h-2z',
  traces: 'M2 4h6M5 8h7M8 12h6',
  dashboard: 'M2.5 2.5h4.5v6H2.5zM9 2.5h4.5v3.5H9zM2.5 10.5H7v3H2.5zM9 8h4.5v5.5H9z',
  audit: 'M4 2h8v12H4zM6.5 5h3M6.5 8h3M6.5 11h2',
  datasets:
    'M2.5 4c0-1.1 2.5-2 5.5-2s5.5.9 5.5 2-2.5 2-5.5 2-5.5-.9-5.5-2zM2.5 4v8c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2V4M2.5 8c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2',
  evalRuns: 'M2 14V2M2 14h12M5 11l3-4 2 2 4-5',
  reports: 'M3 2h7l3 3v9H3zM10 2v3h3M6 9l1.5 1.5L11 7',
  docs: 'M8 4C6.5 2.8 4.5 2.5 2 2.5v10c2.5 0 4.5.3 6 1.5 1.5-1.2 3.5-1.5 6-1.5v-10c-2.5 0-4.5.3-6 1.5zM8 4v10',
  diagnostics: 'M1.5 8h3l2-5 3 10 2-5h3',
  system: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.1M5 11h.1',
  members: 'M5.5 2h5v4h-5zM1.5 10h5v4h-5zM9.5 10h5v4h-5zM8 6v2M4 10V8h8v2',
  assistant: 'M8 2l1.3 3.7L13 7l-3.7 1.3L8 12l-1.3-3.7L3 7l3.7-1.3zM13 11v3M11.5 12.5h3',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6L14 14',
  bell: 'M4 11V7a4 4 0 0 1 8 0v4l1.2 1.5H2.8zM6.5 14.2h3',
  sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1.5V3M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1',
  moon: 'M13 9.6A5.6 5.6 0 0 1 6.4 3 5.6 5.6 0 1 0 13 9.6z',
  screen: 'M2 3h12v8H2zM6 14h4M8 11v3',
  language:
    'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM2 8h12M8 2c2 1.7 2.7 3.7 2.7 6S10 12.3 8 14M8 2C6 3.7 5.3 5.7 5.3 8S6 12.3 8 14',
  help: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM6.2 6.3a1.9 1.9 0 1 1 2.7 1.7c-.6.3-.9.7-.9 1.3M8 11.3v.1',
  usage: 'M2 14h12M4 14V9M8 14V4M12 14V7',
  connections: 'M6.5 9.5l3-3M7 5l1.5-1.5a2.8 2.8 0 0 1 4 4L11 9M9 11l-1.5 1.5a2.8 2.8 0 0 1-4-4L5 7',
  accessLog: 'M4 2h8v12H4zM6.5 11h3M8 5a1.2 1.2 0 1 0 0 2.4A1.2 1.2 0 0 0 8 5zM8 7.4V9',
  key: 'M5.5 13.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM7.7 8.3L13.5 2.5M11 5l2 2',
  users:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 2.8a2.5 2.5 0 0 1 0 4.4M12 9.9c1.5.5 2.5 1.8 2.5 3.6',
  menu: 'M2 4h12M2 8h12M2 12h12',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  chevronDown: 'M4 6l4 4 4-4',
  chevronRight: 'M6 4l4 4-4 4',
  chevronLeft: 'M10 4L6 8l4 4',
  arrowUp: 'M8 13V3M4 7l4-4 4 4',
  arrowDown: 'M8 3v10M4 9l4 4 4-4',
  sort: 'M5 6l3-3 3 3M5 10l3 3 3-3',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  warn: 'M8 2.5l6 11H2zM8 6.5v3.5M8 11.8v.1',
  error: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 5v4M8 11v.1',
  info: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 7.5V11M8 5v.1',
  lock: 'M3.5 7h9v6.5h-9zM5.5 7V5a2.5 2.5 0 0 1 5 0v2',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  refresh: 'M13.5 8a5.5 5.5 0 1 1-1.6-3.9M13.5 2v3h-3',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9',
  edit: 'M3 13l.5-3L10.5 3l2.5 2.5-7 7z',
  duplicate: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3M9.5 7.5v4M7.5 9.5h4',
  plus: 'M8 3v10M3 8h10',
  download: 'M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11',
  columns: 'M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  history: 'M2.5 8a5.5 5.5 0 1 0 1.6-3.9M2.5 2v3h3M8 5v3.5l2.5 1.5',
  clock: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 4.5V8l2.5 1.5',
  external: 'M6 3H3v10h10v-3M9 3h4v4M13 3L7.5 8.5',
  filter: 'M2 3h12l-4.5 5.5v4L6.5 14V8.5z',
  dot: 'M8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  sidebar: 'M2.5 3h11v10h-11zM6.2 3v10',
  send: 'M2.5 8h9M7.5 3.5L12 8l-4.5 4.5',
  stop: 'M4 4h8v8H4z',
  attach: 'M13 7.5l-5 5a3 3 0 0 1-4.3-4.3l5.3-5.3a2 2 0 0 1 2.9 2.9L6.7 11a1 1 0 0 1-1.4-1.4L10 5',
  file: 'M4 2h5l3 3v9H4zM9 2v3h3',
  compare: 'M2.5 3h4.5v10H2.5zM9 3h4.5v10H9z',
  playground: 'M2.5 3h11v7h-7L4 12.5V10H2.5zM5.5 6.5h.1M8 6.5h.1M10.5 6.5h.1',
  zoomIn: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6L14 14M4.8 7h4.4M7 4.8v4.4',
  zoomOut: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6L14 14M4.8 7h4.4',
  fit: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  statecharts: 'M2 2.5h5v4H2zM9 9.5h5v4H9zM7 4.5h4.5v5M4.5 6.5v5H9',
  keyboard: 'M1.5 4h13v8h-13zM4 6.5h.1M6.7 6.5h.1M9.3 6.5h.1M12 6.5h.1M5 9.5h6',
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth={name === 'more' || name === 'dot' ? 2.2 : 1.5}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d={PATHS[name]} />
  </svg>
);
