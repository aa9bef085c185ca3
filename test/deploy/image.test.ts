import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import t, { type Test } from 'tap';
import { unknownVariables } from '../../src/settings/index.ts';
import { tlsFiles } from '../certificate.ts';
import { nodeCommand } from '../child.ts';
import { LONG } from '../long.ts';
import { inProject, ROOT } from '../run/places.ts';
import { startTroupe } from '../service/troupe.ts';

/** The container image: the contents of the Dockerfile and, if Docker works, the result of its build. */

const text = readFileSync(inProject('src/docs/deploy/Dockerfile'), 'utf8');
const file = DockerfileParser.parse(text);

const lastOf = (keyword: string): string =>
  file
    .getInstructions()
    .findLast((instruction) => instruction.getKeyword() === keyword)
    ?.getRawArgumentsContent() ?? '';

t.test('the Dockerfile has no problem that its linter reports', async (t) => {
  t.strictSame(
    validate(text).map(({ message, range }) => `${range.start.line + 1}: ${message}`),
    [],
  );
});

t.test('the image runs the program of the package, not as root, and a signal stops it', async (t) => {
  const { bin } = JSON.parse(readFileSync(inProject('package.json'), 'utf8'));
  const entry: string[] = JSON.parse(lastOf('ENTRYPOINT'));
  t.equal(entry[0], 'node', 'the process has no shell as its parent');
  t.equal(entry.at(-1), bin.troupe);
  t.strictSame(JSON.parse(lastOf('CMD')), ['serve']);
  t.equal(lastOf('USER'), 'node');
  t.equal(lastOf('STOPSIGNAL'), 'SIGTERM');
  t.match(lastOf('ENV'), `SERVICE_STORAGE_DIR=${lastOf('VOLUME')}`);
  t.match(lastOf('RUN'), `install -d -o node -g node -m 0700 ${lastOf('VOLUME')}`);
  const named = Array.from(text.matchAll(/SERVICE_[A-Z_]+/g), ([name]) => [name, ''] as const);
  t.strictSame(unknownVariables(Object.fromEntries(named)), []);
});

t.test('the image leaves out uWebSockets.js, which has no binary for its Node', async (t) => {
  const [build = '', image = ''] = text.split(/^FROM /m).slice(1);
  t.match(build, /rm -rf node_modules\/uWebSockets\.js$/m);
  t.match(image, /^COPY --from=build \/src\/node_modules node_modules$/m);
});

t.test('the build context contains all required files, and no secret or local ones', async (t) => {
  const lines = readFileSync(inProject('.dockerignore'), 'utf8').split('\n');
  const kept = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  t.ok(lines.includes('*'), 'all other files are excluded');
  for (const name of kept) t.ok(existsSync(inProject(name)), name);
  for (const name of ['package.json', 'package-lock.json', 'LICENSE', 'src', 'machines'])
    t.ok(kept.includes(name), name);
});

t.test('the health check succeeds while the service runs, and fails after it stops', async (t) => {
  const [, command = '[]'] = /CMD (\[.*\])$/.exec(lastOf('HEALTHCHECK')) ?? [];
  const [node, ...args]: string[] = JSON.parse(command);
  t.equal(node, 'node');
  for (const tls of [undefined, tlsFiles(t)]) {
    const troupe = await startTroupe(t, { settings: { tls } });
    const variables: Record<string, string> = tls ? { SERVICE_TLS_CERT_FILE: tls.cert_file } : {};
    const check = (): Promise<number | null> => healthOf(args, new URL(troupe.url).port, variables);
    t.equal(await check(), 0, troupe.url);
    await troupe.app.stop();
    t.equal(await check(), 1);
  }
});

const healthOf = async (
  args: readonly string[],
  port: string,
  variables: Record<string, string>,
): Promise<number | null> => {
  const env = { PATH: process.env.PATH, SERVICE_HTTP_ADDR: `0.0.0.0:${port}`, ...variables };
  const [code] = await once(spawn(...nodeCommand(args), { env, stdio: 'ignore' }), 'exit');
  return typeof code === 'number' ? code : null;
};

const docker = (...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync('docker', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`docker ${args[0]}: ${stderr}`);
  return stdout.trim();
};

const containerOf = (t: Test, image: string): string => {
  const id = docker('run', '-d', '-e', 'SERVICE_ADMIN_API_BEARER_TOKEN=x', image);
  t.teardown(() => docker('rm', '-f', '-v', id));
  return id;
};

t.test('the image is built, becomes healthy, and stops gracefully', async (t) => {
  const works = spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0;
  if (!works || !LONG) {
    t.pass(`skipped: ${works ? 'TROUPE_TEST_LONG is not set' : 'Docker does not work here'}`);
    return;
  }
  const image = docker('build', '-q', '-f', 'src/docs/deploy/Dockerfile', '.');
  t.teardown(() => docker('rmi', '-f', image));
  const id = containerOf(t, image);
  const state = (): string => docker('inspect', '-f', '{{.State.Health.Status}}', id);
  for (let now = state(); now !== 'healthy'; now = state()) {
    if (now === 'unhealthy') throw new Error(docker('logs', id));
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  t.equal(docker('exec', id, 'stat', '-c', '%U %a', '/data'), 'node 700');
  docker('stop', '-t', '30', id);
  t.equal(docker('inspect', '-f', '{{.State.ExitCode}}', id), '0');
});
