import { sizeText } from '../../chat/attachments.ts';
import { Bar } from '../../design/Bar.tsx';
import { Chip, type Tone } from '../../design/Chip.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { FIRST } from '../../list/columns.tsx';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { type ListedMember, MEMBER_STATES, type Member } from './member.ts';
import texts from './texts.json' with { type: 'json' };

const TONES: Readonly<Record<string, Tone>> = {
  active: 'success',
  standby: 'info',
  starting: 'info',
  draining: 'warn',
  isolated: 'error',
};

const State = ({ of: { state, reason } }: { of: Member }) => {
  const t = useTexts(texts);
  const known = MEMBER_STATES.find((each) => each === state);
  return (
    <span title={reason ?? undefined}>
      <Chip tone={TONES[state] ?? 'none'}>{known ? t(`state.${known}`) : state}</Chip>
    </span>
  );
};

const Lease = ({ of: { lease_ms: ms, lease: share } }: { of: ListedMember }) => {
  const t = useTexts(texts);
  const format = useFormat();
  if (ms === null || share === null) return <span className="quiet">{t('common.none')}</span>;
  return (
    <span className="row">
      <Bar share={share} tone={share > 0.5 ? 'success' : share > 0.1 ? 'warn' : 'error'} />
      <span className="quiet">{format.duration(ms)}</span>
    </span>
  );
};

const reachableKey = ({ reachable }: Member): 'yes' | 'no' | 'unknown' =>
  reachable === null ? 'unknown' : reachable ? 'yes' : 'no';

export const memberColumns: ColumnsOf<ListedMember, keyof typeof texts> = (t) => [
  {
    id: 'name',
    value: ({ name }) => name,
    ...FIRST,
    text: ({ name, url, id }) => `${name} ${url} ${id}`,
    cell: ({ name, self }, mark) => (
      <span className="row">
        {mark(name)} {self && <Chip>{t('self')}</Chip>}
      </span>
    ),
  },
  { id: 'state', value: ({ state }) => state, cell: (member) => <State of={member} /> },
  {
    id: 'lease',
    value: ({ lease_ms: ms }) => ms ?? undefined,
    text: () => '',
    cell: (member) => <Lease of={member} />,
  },
  {
    id: 'reachable',
    isWide: true,
    value: reachableKey,
    cell: (member) => t(`reachable.${reachableKey(member)}`),
  },
  { id: 'executing', align: 'end', isWide: true, value: ({ executing }) => executing },
  { id: 'waiting', align: 'end', isWide: true, value: ({ waiting }) => waiting },
  { id: 'lineages', align: 'end', isWide: true, value: ({ lineages }) => lineages },
  {
    id: 'size',
    align: 'end',
    isExtra: true,
    value: ({ copy_bytes: bytes }) => bytes,
    cell: ({ copy_bytes: bytes }) => sizeText(bytes),
  },
  { id: 'url', isWide: true, isCode: true, value: ({ url }) => url },
  { id: 'version', isExtra: true, value: ({ version }) => version },
  { id: 'joined', isWide: true, at: ({ joined_at: at }) => at },
  { id: 'id', isExtra: true, isCode: true, value: ({ id }) => id },
];
