import { Popover } from '@mantine/core';
import { type Connection, connection } from '../data/connection.ts';
import { backendUrl } from '../data/request.ts';
import { useAtom } from '../data/use-atom.ts';
import { Dot, type Tone } from '../design/Chip.tsx';
import { FilterSelect } from '../design/Field.tsx';
import { Facts } from '../design/Layout.tsx';
import { setZone, useTexts, zone } from '../i18n/locale.ts';
import css from './Topbar.module.css';
import shellTexts from './texts.json' with { type: 'json' };
import { density, setDensity } from './theme.ts';

const TONES: Record<Exclude<Connection, 'limited'>, Tone> = {
  checking: 'info',
  ok: 'success',
  missing: 'warn',
  unauthorized: 'error',
  disconnected: 'error',
};

/** The state of the connection. It is the usual one without routes of the configuration, too. */
export const useStatus = () => {
  const t = useTexts(shellTexts);
  const found = useAtom(connection);
  const status = found === 'limited' ? 'ok' : found;
  return { tone: TONES[status], label: t(`status.${status}`) };
};

/** Preferences for times and rows of all screens. */
const Preferences = () => {
  const t = useTexts(shellTexts);
  return (
    <div className={`stack ruled ${css.preferences}`}>
      <FilterSelect
        label={t('shell.zone')}
        value={useAtom(zone)}
        options={[
          ['local', t('shell.zoneLocal')],
          ['utc', t('shell.zoneUtc')],
        ]}
        onChange={(value) => setZone(value === 'utc' ? 'utc' : 'local')}
      />
      <FilterSelect
        label={t('shell.density')}
        value={useAtom(density)}
        options={[
          ['compact', t('shell.compact')],
          ['comfortable', t('shell.comfortable')],
        ]}
        onChange={(value) => setDensity(value === 'comfortable' ? 'comfortable' : 'compact')}
      />
    </div>
  );
};

/** A dot that shows the state of the connection, with details in a popover. */
export const ConnectionDot = () => {
  const t = useTexts(shellTexts);
  const { tone, label } = useStatus();
  return (
    <Popover position="bottom-start" trapFocus>
      <Popover.Target>
        <button
          type="button"
          className={`row center push fixed ${css.connection}`}
          aria-label={t('shell.connection', { status: label })}
        >
          <Dot tone={tone} />
        </button>
      </Popover.Target>
      <Popover.Dropdown>
        <Facts
          rows={[
            [t('common.status'), label],
            [t('common.service'), <code key="url">{backendUrl()}</code>],
          ]}
        />
        <Preferences />
      </Popover.Dropdown>
    </Popover>
  );
};
