// SPDX-License-Identifier: MIT
// Power for what is behind the card's root port, so that the kernel can switch it off (D3cold). QEMU's port has a slot
// whose power can be switched: devices in it have no registers then, and have been reset when it is back. A card in a slot
// without power whose indicator is off, too, is taken out; later versions of QEMU begin with that off.
DefinitionBlock ("", "SSDT", 2, "TUTTI", "POWER", 1)
{
    External (\_SB.PCI0.S08, DeviceObj) // the port at 00:01.0, see `run`

    Scope (\_SB.PCI0.S08)
    {
        // Slot Control, 0x18 behind the beginning of the port's PCI Express capability at 0x54
        OperationRegion (SLOT, PCI_Config, 0x6C, 2)
        Field (SLOT, WordAcc, NoLock, Preserve)
        {
            , 8,
            INDI, 2,
            POFF, 1
        }
        PowerResource (POWR, 0, 0)
        {
            Method (_STA) { Return (LEqual (POFF, Zero)) }
            Method (_ON) { Store (Zero, POFF) }
            Method (_OFF)
            {
                Store (One, INDI)
                Store (One, POFF)
            }
        }
        Name (_PR0, Package () { POWR })
        Name (_PR3, Package () { POWR })
        Name (_S0W, 4)
    }
}
