import { useMemo } from 'react';
import { GrantChips } from '../../access/Grants.tsx';
import { Chip, type Tone } from '../../design/Chip.tsx';
import look from '../../design/Look.module.css';
import { Ago, DateTime, useNow } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { userColumn } from '../users/user-column.tsx';
import { type ApiKey, expiresSoonIn, KEY_STATES } from './key.ts';
import { texts } from './texts.ts';

const TONES: Readonly<Record<string, Tone>> = { active: 'success', expired: 'warn', revoked: 'error' };

const State = ({ state }: { state: string }) => {
  const t = useTexts(texts);
  const known = KEY_STATES.find((each) => each === state);
  return <Chip tone={TONES[state] ?? 'none'}>{known ? t(`state.${known}`) : state}</Chip>;
};

/** The time at which a key expires; shortly before, the days that are left. */
const Expiry = ({ of }: { of: ApiKey }) => {
  const t = useTexts(texts);
  const count = expiresSoonIn(of, useNow());
  if (of.expires_at === null) return <span>{t('expires.never')}</span>;
  return (
    <span className={look.row}>
      <DateTime at={of.expires_at} />
      {count !== undefined && (
        <Chip tone="warn" icon="clock">
          {t('expires.soon', { count })}
        </Chip>
      )}
    </span>
  );
};

/** The columns of lists of keys. */
export const useKeyColumns = (): Column<ApiKey>[] => {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        id: 'name',
        label: t('column.name'),
        always: true,
        shortened: true,
        value: ({ name }) => name,
        text: ({ name, hint }) => `${name} ${hint}`,
        cell: ({ name }, mark) => <span title={name}>{mark(name)}</span>,
      },
      {
        id: 'hint',
        label: t('column.hint'),
        value: ({ hint }) => hint,
        cell: ({ hint }) => <span className={`${look.mono} ${look.cut}`}>{hint}</span>,
      },
      {
        id: 'state',
        label: t('column.state'),
        value: ({ state }) => state,
        cell: ({ state }) => <State state={state} />,
      },
      userColumn<ApiKey>(t('column.user')),
      {
        id: 'grants',
        label: t('column.grants'),
        isExtra: true,
        value: ({ grants }) => (grants ?? []).join(' '),
        cell: ({ grants }) => (grants ? <GrantChips grants={grants} /> : t('grants.ofUser')),
      },
      {
        id: 'used',
        label: t('column.used'),
        value: ({ last_used_at: at }) => at ?? 0,
        text: ({ last_used_ip: ip }) => ip ?? '',
        cell: ({ last_used_at: at, last_used_ip: ip }) =>
          at === null ? (
            t('used.never')
          ) : (
            <span title={ip ?? undefined}>
              <Ago at={at} />
            </span>
          ),
      },
      {
        id: 'expires',
        label: t('column.expires'),
        value: ({ expires_at: at }) => at ?? Number.MAX_SAFE_INTEGER,
        text: () => '',
        cell: (key) => <Expiry of={key} />,
      },
      {
        id: 'created',
        label: t('column.created'),
        isExtra: true,
        value: ({ created_at: at }) => at,
        text: ({ created_by: by }) => by,
        cell: ({ created_at: at }) => <DateTime at={at} />,
      },
    ],
    [t],
  );
};
