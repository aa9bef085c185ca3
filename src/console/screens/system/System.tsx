import { list, text } from '../../data/guard.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { backendUrl } from '../../data/request.ts';
import { health, type SystemInfo, systemInfo } from '../../data/resources.ts';
import { Chip } from '../../design/Chip.tsx';
import { Card, Facts, Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { Explorer } from './Explorer.tsx';
import { Metrics } from './Metrics.tsx';
import texts from './texts.json' with { type: 'json' };

const MODULES: Resource<string[]> = { path: '/v1/system/modules', guard: list(text) };

const STATES = ['ok', 'starting', 'error', 'timeout'] as const;

const State = ({ state }: { state: string }) => {
  const t = useTexts(texts);
  const known = STATES.find((one) => one === state);
  const tone = state === 'ok' ? 'success' : state === 'starting' ? 'info' : 'error';
  return <Chip tone={tone}>{known ? t(`state.${known}`) : state}</Chip>;
};

const Service = ({ info }: { info: SystemInfo }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const components = useResource(health).data?.components;
  const state = (name: 'store' | 'runtime') =>
    [t(name), components ? <State key={name} state={components[name]} /> : '—'] as const;
  return (
    <Card title={t('common.service')}>
      <Facts
        rows={[
          [t('version'), info.version],
          [t('uptime'), format.seconds(info.uptime_seconds)],
          [t('scope'), <code key="scope">{info.scope_id}</code>],
          [t('backend'), <code key="backend">{backendUrl()}</code>],
          state('store'),
          state('runtime'),
          [
            t('notices'),
            <a key="notices" href="/licenses.txt">
              licenses.txt
            </a>,
          ],
        ]}
      />
    </Card>
  );
};

type FeatureName = 'config' | 'configStore' | 'audit' | 'stats' | 'traces' | 'evals' | 'events';

/** Derived from the system information, so that no request has to fail. */
const Features = ({ info }: { info: SystemInfo }) => {
  const t = useTexts(texts);
  const row = (name: FeatureName, isOn: boolean, setting = '') =>
    [
      t(`feature.${name}`),
      <Chip key={name} tone={isOn ? 'success' : 'none'} title={setting && t('off.setting', { setting })}>
        {t(isOn ? 'on' : 'off')}
      </Chip>,
    ] as const;
  return (
    <Card title={t('features')} note={t('features.note')}>
      <Loaded query={useResource(MODULES)} plain>
        {(modules) => (
          <Facts
            rows={[
              row('config', modules.includes('config'), 'SERVICE_EXPOSE_CONFIG_ROUTES'),
              row('configStore', info.config_store_enabled),
              row('audit', info.audit_log_enabled, 'SERVICE_AUDIT_LOG_ENABLED'),
              row('stats', info.runtime_stats_enabled, 'SERVICE_RUNTIME_STATS_BUCKET_COUNT'),
              row('traces', modules.includes('trace'), 'SERVICE_EXPOSE_TRACE_ROUTES'),
              row('evals', modules.includes('eval'), 'SERVICE_EXPOSE_EVAL_ROUTES'),
              row('events', modules.includes('events')),
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
};

export default function System() {
  const t = useTexts(texts);
  return (
    <Page title={t('title')} purpose={t('purpose')}>
      <Metrics />
      <Loaded query={useResource(systemInfo)} off={systemInfo.off}>
        {(info) => (
          <div className="halves">
            <Service info={info} />
            <Features info={info} />
          </div>
        )}
      </Loaded>
      <Explorer />
    </Page>
  );
}
