import { GrantChips } from '../../access/Grants.tsx';
import { Chip, type Tone } from '../../design/Chip.tsx';
import { DateTime, useNow } from '../../design/Time.tsx';
import { textOr, useTexts } from '../../i18n/locale.ts';
import { FIRST } from '../../list/columns.tsx';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { USER_CELL } from '../users/UserLink.tsx';
import { type ApiKey, expiresSoonIn } from './key.ts';
import texts from './texts.json' with { type: 'json' };

const TONES: Readonly<Record<string, Tone>> = { active: 'success', expired: 'warn', revoked: 'error' };

/** The time at which a key expires; shortly before, the days that are left. */
const Expiry = ({ of }: { of: ApiKey }) => {
  const t = useTexts(texts);
  const count = expiresSoonIn(of, useNow());
  if (of.expires_at === null) return <span>{t('new.life.never')}</span>;
  return (
    <span className="row">
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
export const keyColumns: ColumnsOf<ApiKey, keyof typeof texts> = (t) => [
  {
    id: 'name',
    value: ({ name }) => name,
    ...FIRST,
    text: ({ name, hint, user }) => `${name} ${hint} ${user}`,
  },
  { id: 'hint', isWide: true, value: ({ hint }) => hint, isCode: true },
  {
    id: 'state',
    value: ({ state }) => state,
    cell: ({ state }) => (
      <Chip tone={TONES[state] ?? 'none'}>{textOr(t, texts, `state.${state}`, state)}</Chip>
    ),
  },
  { id: 'user', isWide: true, label: t('new.user'), ...USER_CELL },
  {
    id: 'grants',
    value: ({ grants }) => (grants ?? []).join(' '),
    isExtra: true,
    cell: ({ grants }) => (grants ? <GrantChips grants={grants} /> : t('grants.ofUser')),
  },
  {
    id: 'used',
    at: ({ last_used_at: at }) => at,
    none: t('used.never'),
    text: ({ last_used_ip: ip }) => ip ?? '',
    title: ({ last_used_ip: ip }) => ip,
  },
  {
    id: 'expires',
    isWide: true,
    value: ({ expires_at: at }) => at ?? Number.MAX_SAFE_INTEGER,
    text: () => '',
    cell: (key) => <Expiry of={key} />,
  },
  {
    id: 'created',
    at: ({ created_at: at }) => at,
    isDate: true,
    isExtra: true,
    text: ({ created_by: by }) => by,
  },
];
