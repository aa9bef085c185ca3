import { useState } from 'react';
import { useTexts } from '../i18n/locale.ts';
import { type MenuItem, OverflowMenu } from '../list/RowMenu.tsx';
import { DeleteDialog } from './DeleteDialog.tsx';
import type { EntryKind } from './entry.ts';
import texts from './texts.json' with { type: 'json' };

/** Rare actions on the page of an entry: its changes, and its deletion. */
export const EntryMenu = (props: {
  kind: EntryKind;
  id: string;
  /** Further actions, at the top. */
  items?: readonly MenuItem[];
  /** Says what happens to a built-in entry that is deleted. */
  note?: string | undefined;
  onDeleted: () => void;
}) => {
  const t = useTexts(texts);
  const [isDoomed, doom] = useState(false);
  const { kind, id } = props;
  const audit = `/audit-log?resource=${encodeURIComponent(`${kind.namespace}/${id}`)}`;
  return (
    <>
      <OverflowMenu
        label={t('more', { id })}
        items={[
          ...(props.items ?? []),
          { label: t('audit'), icon: 'audit', act: audit },
          { label: t('delete.confirm'), icon: 'trash', tone: 'danger', act: () => doom(true) },
        ]}
      />
      {isDoomed && <DeleteDialog {...kind} {...props} onClose={() => doom(false)} />}
    </>
  );
};
