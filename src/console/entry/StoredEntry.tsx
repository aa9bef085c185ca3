import type { ReactNode } from 'react';
import { Drawer } from '../design/Dialog.tsx';
import { Loaded } from '../design/Loaded.tsx';
import type { EntryKind, Opened } from './entry.ts';
import { useEntryAddress, useStoredEntry } from './use-opened.ts';

/** The form of an entry that is stored, once it is read; why it cannot be read, where that is so. */
const Stored = ({ kind, id, children }: StoredProps) => {
  const { query, opened } = useStoredEntry(kind, id);
  const address = useEntryAddress();
  if (opened) return children(opened);
  if (!query.error) return null;
  return (
    <Drawer title={id} onClose={address.close}>
      <Loaded query={query}>{() => null}</Loaded>
    </Drawer>
  );
};

type StoredProps = { kind: EntryKind; id: string; children: (opened: Opened) => ReactNode };

/** Another entry is another form. */
export const StoredEntry = (props: StoredProps) => <Stored key={props.id} {...props} />;
