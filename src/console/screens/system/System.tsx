import { RequestError } from '../../data/error.ts';
import { list, object, text } from '../../data/guard.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { backendUrl, sendRaw } from '../../data/request.ts';
import { type SystemInfo, systemInfo } from '../../data/resources.ts';
import { Chip, Dot } from '../../design/Chip.tsx';
import { Card, Facts, Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { Explorer } from './Explorer.tsx';
import { Metrics } from './Metrics.tsx';
import css from './System.module.css';
import { texts } from './texts.ts';

const MODULES: Resource<string[]> = {
  path: '/v1/system/modules',
  guard: (value, at) =>
    Array.isArray(value) ? list(text)(value, at) : object({ modules: list(text) })(value, at).modules,
};

const Health = object({ status: text, components: object({ store: text, runtime: text }) });
type Health = ReturnType<typeof Health>;

/** Not ready is an answer too, though its status is one of failures. */
const HEALTH: Resource<Health> = {
  path: '/health',
  guard: Health,
  every: 10_000,
  async read(signal) {
    try {
      const response = await sendRaw({ path: '/health', signal, quiet: true });
      return await response.json();
    } catch (error) {
      if (error instanceof RequestError && error.failure.kind === 'http') return error.failure.body;
      throw error;
    }
  },
};

const STATES = ['ok', 'starting', 'error', 'timeout'] as const;

const State = ({ state }: { state: string }) => {
  const t = useTexts(texts);
  const known = STATES.find((one) => one === state);
  const tone = state === 'ok' ? 'success' : state === 'starting' ? 'info' : 'error';
  return <Chip tone={tone}>{known ? t(`state.${known}`) : state}</Chip>;
};

const Service = () => {
  const t = useTexts(texts);
  const format = useFormat();
  const query = useResource(systemInfo);
  const health = useResource(HEALTH);
  return (
    <Card title={t('service')}>
      <Loaded query={query} off={systemInfo.off} plain>
        {(info) => (
          <Facts
            rows={[
              [t('version'), info.version],
              [t('uptime'), format.seconds(info.uptime_seconds)],
              [t('scope'), <code key="scope">{info.scope_id}</code>],
              [t('backend'), <code key="backend">{backendUrl()}</code>],
              [t('store'), health.data ? <State key="store" state={health.data.components.store} /> : '—'],
              [
                t('runtime'),
                health.data ? <State key="runtime" state={health.data.components.runtime} /> : '—',
              ],
              [
                t('notices'),
                <a key="notices" href="/licenses.txt">
                  licenses.txt
                </a>,
              ],
              [t('modules'), <Modules key="modules" />],
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
};

const Modules = () => (
  <Loaded query={useResource(MODULES)} plain>
    {(modules) => (
      <div className={css.chips}>
        {modules.map((name) => (
          <Chip key={name}>{name}</Chip>
        ))}
      </div>
    )}
  </Loaded>
);

const Feature = ({ isOn, name, setting }: { isOn: boolean | undefined; name: string; setting?: string }) => {
  const t = useTexts(texts);
  const word = isOn === undefined ? t('unknown') : t(isOn ? 'on' : 'off');
  return (
    <>
      <span title={setting && t('off.setting', { setting })}>{name}</span>
      <span>
        <Dot tone={isOn ? 'success' : 'none'} />
        {word}
      </span>
    </>
  );
};

/** Asked of what the service says of itself, so that nothing has to fail for it. */
const Features = () => {
  const t = useTexts(texts);
  const info: SystemInfo | undefined = useResource(systemInfo).data;
  const modules = useResource(MODULES).data;
  const has = (name: string): boolean | undefined => modules?.includes(name);
  return (
    <Card title={t('features')} note={t('features.note')}>
      <div className={css.features}>
        <Feature name={t('feature.config')} isOn={has('config')} setting="SERVICE_EXPOSE_CONFIG_ROUTES" />
        <Feature name={t('feature.configStore')} isOn={info?.config_store_enabled} />
        <Feature
          name={t('feature.audit')}
          isOn={info?.audit_log_enabled}
          setting="SERVICE_AUDIT_LOG_ENABLED"
        />
        <Feature
          name={t('feature.stats')}
          isOn={info?.runtime_stats_enabled}
          setting="SERVICE_RUNTIME_STATS_BUCKET_COUNT"
        />
        <Feature name={t('feature.traces')} isOn={has('trace')} setting="SERVICE_EXPOSE_TRACE_ROUTES" />
        <Feature name={t('feature.evals')} isOn={has('eval')} setting="SERVICE_EXPOSE_EVAL_ROUTES" />
        <Feature name={t('feature.events')} isOn={has('events')} />
      </div>
    </Card>
  );
};

export default function System() {
  const t = useTexts(texts);
  return (
    <Page title={t('title')} purpose={t('purpose')}>
      <div className={css.grid}>
        <Service />
        <Features />
      </div>
      <Metrics />
      <Explorer />
    </Page>
  );
}
