import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { type Command, runShell } from '../../e2e/service.ts';
import { linkSpec, unpackInto } from '../project.ts';

/**
 * The folder and the terminals of a person who follows a tutorial.
 *
 * Two things differ from the page: servers listen on free ports, and `npm install` takes the packed file and the
 * packages of the checkout in place of those of the registry.
 */
export type Terminals = {
  create(file: string, content: string): Promise<void>;
  replace(file: string, old: string, by: string): Promise<void>;
  findsUnchanged(file: string): Promise<void>;
  finds(file: string, text: string, isThere: boolean): Promise<void>;
  /** Runs a line. A server is running when it has printed its address. */
  run(line: string): Promise<void>;
  /** The service has printed these lines, in which `…` stands for any text. */
  seesOutput(lines: readonly string[]): Promise<void>;
  /** Ctrl+C in the terminal of the service. */
  interrupt(): Promise<void>;
  /** Replaces addresses of the page by those of the running servers. */
  here(text: string): string;
  /** The link that signs in. A service prints its token only on a terminal, and otherwise the file that contains it. */
  consoleLink(): Promise<string>;
};

type Server = {
  starts: RegExp;
  /** Address on the page. */
  address: string;
  portOption: string;
  printsAddress: RegExp;
};

const SERVICE: Server = {
  starts: /\bnpx troupe dev\b/,
  address: 'http://127.0.0.1:38080',
  portOption: '--http-addr 127.0.0.1:',
  printsAddress: /API\s+(http:\S+)/,
};

const PAGES: Server = {
  starts: /\bnpx vite\b/,
  address: 'http://localhost:5173',
  portOption: '--port ',
  printsAddress: /Local:\s+(http:\S+?)\/\s/,
};

export const openTerminals = (t: Test, { home, tarball }: { home: string; tarball: string }): Terminals => {
  let folder = home;
  let service: Command | undefined;
  const created = new Map<string, string>();
  const addresses = new Map<string, string>();

  const here = (text: string): string => {
    let replaced = text;
    for (const [shown, real] of addresses) replaced = replaced.replaceAll(shown, real);
    return replaced;
  };
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const ofService = (): Command => {
    if (!service) throw new Error('the service was not started');
    return service;
  };
  /** A server that is started again listens on its previous port. */
  const serve = async ({ address, portOption, printsAddress }: Server, line: string): Promise<Command> => {
    const known = addresses.get(address);
    const port = known === undefined ? '0' : new URL(known).port;
    const command = runShell(t, `${line} ${portOption}${port}`, folder);
    const [, url = ''] = await command.says(printsAddress);
    addresses.set(address, url);
    return command;
  };

  return {
    here,
    async create(file, content) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      created.set(file, here(content));
      writeFileSync(join(folder, file), here(content));
    },
    async replace(file, old, by) {
      const content = read(file);
      t.equal(content.split(old).length, 2, `${file} contains ${old} once`);
      writeFileSync(join(folder, file), content.replace(old, by));
    },
    async findsUnchanged(file) {
      t.equal(read(file), created.get(file), `${file} is unchanged`);
    },
    async finds(file, text, isThere) {
      t.equal(
        read(file).includes(text),
        isThere,
        `${file} ${isThere ? 'contains' : 'does not contain'} ${text}`,
      );
    },
    async run(line) {
      if (SERVICE.starts.test(line)) service = await serve(SERVICE, line);
      else if (PAGES.starts.test(line)) await serve(PAGES, line);
      else if (line.startsWith('npm install ')) await install(folder, tarball, line.split(' ').slice(2));
      else {
        const command = runShell(t, line, folder);
        t.equal(await command.ended(), 0, `${line}: ${command.errors()}`);
        folder = join(folder, /\bcd (\S+)/.exec(line)?.[1] ?? '');
      }
    },
    async seesOutput(lines) {
      for (const line of lines) await ofService().says(patternOf(here(line)));
      t.pass('the output has these lines');
    },
    async interrupt() {
      ofService().kill('SIGINT');
      await ofService().ended();
      t.match(ofService().output(), /^Troupe: stopped$/m);
    },
    async consoleLink() {
      const [, link = ''] = await ofService().says(/Console\s+(\S+)/);
      const [, file = ''] = await ofService().says(/Admin token\s+in (\S+)/);
      return `${link}#token=${read(file).trim()}`;
    },
  };
};

const install = async (folder: string, tarball: string, specs: readonly string[]): Promise<void> => {
  await unpackInto(folder, tarball);
  for (const spec of specs) if (spec !== 'troupe') linkSpec(folder, spec);
};

const patternOf = (line: string): RegExp =>
  new RegExp(line.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*'));
