/* SPDX-License-Identifier: MIT */
/**
 * DOC: The card as a kernel of Xilinx XRT
 *
 * XRT gives a program no BAR. What the control window and the card's memory are on PCIe is then one buffer object in a
 * bank that both sides reach directly; host memory is a second one. A kernel (RTL IP) with the name "tutti" has the
 * registers below on its s_axilite port, each of 32 bits; pairs have the lower half first. include/XRT.md describes the
 * shell around it.
 */
#ifndef TUTTI_XRT_CARD_H
#define TUTTI_XRT_CARD_H

/** TUTTI_XRT_KERNEL - name of the kernel in the xclbin. */
#define TUTTI_XRT_KERNEL "tutti"

/** enum tutti_xrt_argument - the kernel's arguments, which say in which bank each buffer object has to lie. */
enum tutti_xrt_argument {
	TUTTI_XRT_ARG_BAR,  /* control window and card memory; a bank that the host maps (P2P) */
	TUTTI_XRT_ARG_HOST, /* host memory; a bank of host memory (HOST[0]) */
	TUTTI_XRT_ARGS,
};

/** enum tutti_xrt_register - offsets of the registers. Those below 0x10 belong to XRT and are not used. */
enum tutti_xrt_register {
	TUTTI_XRT_MAGIC = 0x10,      /* read: TUTTI_XRT_MAGIC_VALUE */
	TUTTI_XRT_VERSION = 0x14,    /* read: TUTTI_XRT_VERSION_VALUE */
	TUTTI_XRT_BAR_BYTES = 0x18,  /* read, a pair: bytes of control window and card memory */
	TUTTI_XRT_BAR = 0x20,        /* written, a pair: device address of that buffer object; a multiple of 4096 */
	TUTTI_XRT_HOST = 0x28,       /* written, a pair: device address of the buffer object in host memory */
	TUTTI_XRT_HOST_BYTES = 0x30, /* written, a pair: its size; the card reaches no other host memory */
	TUTTI_XRT_ENABLE = 0x38,     /* written: 1 resets the card into the buffer, 0 ends all accesses to both */
	TUTTI_XRT_STATE = 0x3c,      /* read: enum tutti_xrt_state */
	TUTTI_XRT_KICK = 0x40,       /* written, any value: the host's kick, see struct tutti_status.asleep */
	TUTTI_XRT_REGISTERS_END = 0x44,
};

#define TUTTI_XRT_MAGIC_VALUE	0x49545554u /* "TUTI" */
#define TUTTI_XRT_VERSION_VALUE 1u

/** enum tutti_xrt_state - what a write to TUTTI_XRT_ENABLE has led to. */
enum tutti_xrt_state {
	TUTTI_XRT_OFF,    /* no buffer object is in use */
	TUTTI_XRT_READY,  /* the discovery data lie in the buffer object */
	TUTTI_XRT_FAILED, /* the addresses cannot be used */
};

#endif
