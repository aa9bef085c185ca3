import { useMemo } from 'react';
import { ActDialog } from '../../access/ActDialog.tsx';
import { anything } from '../../data/guard.ts';
import { invalidate, useResource } from '../../data/queries.ts';
import { pathOf, send } from '../../data/request.ts';
import { Chip } from '../../design/Chip.tsx';
import { Notice } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ListScreen } from '../../list/ListScreen.tsx';
import { listedMembers, MEMBERS, type Member, mayDrain } from './member.ts';
import { memberColumns } from './member-columns.tsx';
import texts from './texts.json' with { type: 'json' };

const Database = () => {
  const t = useTexts(texts);
  const { data } = useResource(MEMBERS);
  if (!data?.database) return null;
  const { status, version, schema, pooled } = data.database;
  if (status !== 'ok') return <Notice tone="error" title={t('database.error')} />;
  return (
    <p className="row quiet">
      {t('database', { version, schema })} {pooled && <Chip>{t('database.pooled')}</Chip>}
    </p>
  );
};

const Drain = ({ of: { id, name }, onClose }: { of: Member; onClose: () => void }) => {
  const act = async (): Promise<void> => {
    await send({ method: 'POST', path: pathOf`/v1/system/members/${id}/drain` }, anything);
    invalidate(MEMBERS.path);
  };
  return <ActDialog texts={texts} of="drain" values={{ name }} act={act} onClose={onClose} />;
};

export default function Members() {
  const t = useTexts(texts);
  const query = useResource(MEMBERS);
  const rows = useMemo(() => (query.data ? listedMembers(query.data) : []), [query.data]);
  const isAlone = query.data?.mode === 'embedded';
  return (
    <ListScreen
      name="members"
      texts={texts}
      query={query}
      rows={rows}
      columns={memberColumns}
      rowId={({ id }) => id}
      menu={(member) => [
        {
          label: t('menu.drain'),
          icon: 'close',
          isOff: isAlone || !mayDrain(member),
          dialog: (close) => <Drain of={member} onClose={close} />,
        },
      ]}
      above={isAlone ? <Notice title={t('embedded.title')}>{t('embedded.text')}</Notice> : <Database />}
    />
  );
}
