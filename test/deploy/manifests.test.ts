import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { parseAllDocuments } from 'yaml';
import { unknownVariables } from '../../src/settings/index.ts';
import { inProject } from '../run/places.ts';
import { startTroupe } from '../service/troupe.ts';

/** The deployment examples match the image and the service. */

const textOf = (name: string): string => readFileSync(inProject(`src/docs/deploy/${name}`), 'utf8');

const dockerfile = readFileSync(inProject('src/docs/deploy/Dockerfile'), 'utf8');
const [, port = ''] = /^EXPOSE (\d+)$/m.exec(dockerfile) ?? [];
const [, volume = ''] = /^VOLUME (\S+)$/m.exec(dockerfile) ?? [];

const documents = (name: string): unknown[] =>
  parseAllDocuments(textOf(name)).map((document) => {
    t.strictSame(document.errors, [], name);
    return document.toJS();
  });

const variablesOf = (text: string): Record<string, string> =>
  Object.fromEntries(Array.from(text.matchAll(/\bSERVICE_[A-Z_]+/g), ([name]) => [name, '']));

const secondsToStop = (text: string): number =>
  Number(/SERVICE_SHUTDOWN_TIMEOUT_MS:?\s+(?:value: )?"(\d+)"/.exec(text)?.[1]) / 1000;

t.test('the compose file uses the port, the volume and the settings of the image', async (t) => {
  const text = textOf('docker-compose.yml');
  t.strictSame(unknownVariables(variablesOf(text)), []);
  t.match(documents('docker-compose.yml'), [
    {
      services: {
        troupe: { ports: [`127.0.0.1:${port}:${port}`], volumes: [`data:${volume}`], read_only: true },
      },
      volumes: { data: null },
    },
  ]);
  t.ok(Number(/stop_grace_period: (\d+)s/.exec(text)?.[1]) > secondsToStop(text));
});

t.test('the StatefulSet uses the port, the volume, the settings and the routes of the service', async (t) => {
  const text = textOf('kubernetes.yml');
  t.strictSame(unknownVariables(variablesOf(text)), []);
  const [service, set] = documents('kubernetes.yml');
  t.match(service, { kind: 'Service', spec: { ports: [{ port: Number(port), targetPort: 'http' }] } });
  t.match(set, {
    kind: 'StatefulSet',
    spec: {
      replicas: 1,
      template: {
        spec: {
          securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 },
          containers: [
            {
              ports: [{ name: 'http', containerPort: Number(port) }],
              volumeMounts: [{ name: 'data', mountPath: volume }, { name: 'secrets' }, { name: 'tmp' }],
            },
          ],
        },
      },
      volumeClaimTemplates: [{ metadata: { name: 'data' } }],
    },
  });
  t.ok(Number(/terminationGracePeriodSeconds: (\d+)/.exec(text)?.[1]) > secondsToStop(text));
  const troupe = await startTroupe(t);
  const paths = Array.from(text.matchAll(/path: (\/\S+)/g), ([, path = '']) => path);
  t.ok(paths.length >= 4);
  for (const path of paths) t.equal((await fetch(`${troupe.url}${path}`)).status, 200, path);
});

t.test('every metric of the dashboard and the alerts exists in the service', async (t) => {
  const troupe = await startTroupe(t);
  const metrics = await (await fetch(`${troupe.url}/metrics`)).text();
  const families = new Set(Array.from(metrics.matchAll(/^# TYPE (\S+)/gm), ([, name]) => name));
  const dashboard = textOf('grafana.json');
  t.ok(JSON.parse(dashboard).panels.length > 10);
  for (const text of [dashboard, textOf('alerts.yml')]) {
    const named = text.match(/\b(service|process|nodejs)_[a-z0-9_]+/g) ?? [];
    t.ok(named.length > 5);
    const unknown = named.filter(
      (name) => !families.has(name) && !families.has(name.replace(/_bucket$/, '')),
    );
    t.strictSame(unknown, []);
  }
  documents('alerts.yml');
});

t.test('Prometheus accepts the alert rules', async (t) => {
  const { status, stdout, stderr, error } = spawnSync(
    'promtool',
    ['check', 'rules', inProject('src/docs/deploy/alerts.yml')],
    { encoding: 'utf8' },
  );
  if (error) return t.pass(`skipped: ${error.message}`);
  t.equal(status, 0, `${stdout}${stderr}`);
});
