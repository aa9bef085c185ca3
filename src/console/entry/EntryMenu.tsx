import { Menu } from '@mantine/core';
import { useState } from 'react';
import { IconButton } from '../design/Button.tsx';
import { useTexts } from '../i18n/locale.ts';
import { MenuItems } from '../list/RowMenu.tsx';
import { DeleteDialog } from './DeleteDialog.tsx';
import type { EntryKind } from './entry.ts';
import { texts } from './texts.ts';

/** Rare actions on the page of an entry: its changes, and its deletion. */
export const EntryMenu = (props: { kind: EntryKind; id: string; onDeleted: () => void }) => {
  const t = useTexts(texts);
  const [isDoomed, doom] = useState(false);
  const { kind, id } = props;
  const audit = `/audit-log?resource=${encodeURIComponent(`${kind.namespace}/${id}`)}`;
  return (
    <>
      <Menu>
        <Menu.Target>
          <IconButton icon="more" label={t('more', { id })} />
        </Menu.Target>
        <Menu.Dropdown>
          <MenuItems
            items={[
              { label: t('audit'), icon: 'audit', act: audit },
              { label: t('delete.confirm'), icon: 'trash', tone: 'danger', act: () => doom(true) },
            ]}
          />
        </Menu.Dropdown>
      </Menu>
      {isDoomed && <DeleteDialog {...kind} id={id} onDeleted={props.onDeleted} onClose={() => doom(false)} />}
    </>
  );
};
