import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../app.ts';
import { version } from '../composition/version.ts';
import type { Settings } from '../settings/index.ts';
import { type Paint, paintFor } from '../terminal/paint.ts';
import { counted, cut } from '../terminal/text.ts';

/** The banner of a started service: its addresses, model and agents, and a command to try. */

export const TOKEN_FILE = 'admin-token';

type Row = readonly [name: string, value: string];

type BannerInput = {
  app: Pick<App, 'url' | 'agents' | 'model' | 'member'>;
  settings: Settings;
  /** Set by `troupe dev`. Logs and pipes do not get the token, only the name of the file that contains it. */
  admin?: { token: string; isShown: boolean };
};

export const renderBanner = (
  { app, settings, admin }: BannerInput,
  { paint, columns }: { paint: Paint; columns: number },
): string => {
  const { url } = app;
  const member = app.member();
  const rows: Row[] = [
    ...(settings.console.enabled ? [['Console', consoleLink(url, admin)] as const] : []),
    ['API', url],
    ['OpenAPI', `${url}/openapi.json`],
    ['Metrics', `${url}/metrics`],
    ...(app.model() || !member
      ? ([
          ['Model', modelText(app.model())],
          ['Agents', agentsText(app.agents(), columns - MARGIN)],
        ] as const)
      : []),
    ...(admin === undefined ? [] : tokenRows(admin, settings.storage_dir, paint)),
    member ? ['Member', memberText(member)] : ['Data', settings.storage_dir],
  ];
  const lines = rows.map(([name, value]) => `  ${paint('dim', name.padEnd(NAMES))}${value}`.trimEnd());
  return `\n${paint('bold', 'Troupe is ready.')} ${paint('dim', version)}\n\n${lines.join('\n')}\n`;
};

/** The link signs in: browsers send no fragment, and the console removes the token from the address. */
const consoleLink = (url: string, admin: BannerInput['admin']): string => {
  const isSecret = admin === undefined || !admin.isShown || admin.token === '' || !url.startsWith('http');
  return isSecret ? `${url}/` : `${url}/#token=${encodeURIComponent(admin.token)}`;
};

const tokenRows = (
  { token, isShown }: { token: string; isShown: boolean },
  dir: string,
  paint: Paint,
): Row[] => {
  const file = join(dir, TOKEN_FILE);
  const kept = existsSync(file) && readFileSync(file, 'utf8').trim() === token;
  if (isShown)
    return [['Admin token', token], ...(kept ? [['', paint('dim', `kept in ${file}`)] as const] : [])];
  return [['Admin token', kept ? `in ${file}` : 'the one that is set']];
};

/** Shows whether the process has the data of its cluster. */
export const memberText = ({ name, state }: NonNullable<ReturnType<App['member']>>): string =>
  `${name} (${state})`;

/** Shows the operator which provider receives the prompts and the key. */
export const modelText = (used: ReturnType<App['model']>): string => {
  if (!used) return 'none';
  const { model, provider, host } = used;
  const place = host === undefined ? '' : ` at ${host}`;
  return provider === undefined ? model : `${model}${place} (provider ${provider})`;
};

const NAMES = 14;
const MARGIN = NAMES + 2;

/** Lists as many ids as fit into the row. */
const agentsText = (ids: readonly string[], room: number): string => {
  const shown: string[] = [];
  for (const id of ids) {
    const rest = ids.length - shown.length;
    if ([...shown, id].join(', ').length + ` and ${rest} more`.length > room) break;
    shown.push(id);
  }
  if (ids.length === 0) return 'none';
  if (shown.length === 0) return cut(counted(ids.length, 'agent'), room);
  return shown.length === ids.length
    ? shown.join(', ')
    : `${shown.join(', ')} and ${ids.length - shown.length} more`;
};

/** `curl` takes the path of a Unix socket separately from the URL. */
const addressOfCurl = (url: string): string =>
  url.startsWith('unix:') ? `--unix-socket '${url.slice('unix:'.length)}' http://localhost` : url;

export const tryText = (app: Pick<App, 'url'>, { default_agent_id }: Settings, paint: Paint): string => `
${paint('bold', 'Try it:')}

  curl -N ${addressOfCurl(app.url)}/v1/runs -H 'content-type: application/json' -d '{"agentId":"${default_agent_id}","messages":[{"role":"user","content":"Hello"}]}'

`;

export const pageOf = (stream: NodeJS.WriteStream): { paint: Paint; columns: number } => ({
  paint: paintFor(stream),
  columns: stream.columns || 80,
});
